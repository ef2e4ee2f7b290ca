"""The data of a person: the export."""

import json
from typing import Any

import pytest_asyncio

from loaders.backend import Backend
from tests.api import Api
from tests.conftest import Dump, Prepared
from tests.persons import ADMIN_SUBJECT, EMAIL, PIA, SECRETS, live
from tests.places import paged
from tests.principals import admin, owner
from tests.wire import Wire

EXPORT = """query ($first: Int!, $after: String) { owner(ownerId: "pia") { export(first: $first, after: $after) {
nodes {
  kind content
  reservation { reservationId details { recipient { name email } metadata } accessCodes { nodes { label } } }
  booking { bookingId payments { nodes { paymentId } } }
} nextCursor } } }"""
ELSEWHERE = {EMAIL.lower(), ADMIN_SUBJECT, "seen by Pia", "pia-hook", "hook of Pia"}
"""The claim on the address, what Pia did as an admin, and what is stored under a locker or a webhook."""


@pytest_asyncio.fixture
async def lived(api: Api, backend: Backend, prepared: Prepared) -> Api:
    await prepared(live, api, backend)
    return api


async def exported(api: Api, size: int = 100) -> list[dict[str, Any]]:
    return [node async for nodes in paged(api, EXPORT, size) for node in nodes]


async def test_an_export_has_everything_that_is_stored_under_an_owner_and_what_its_reservations_have_elsewhere(
    lived: Api, wire: Wire, dump: Dump
) -> None:
    items = await exported(lived)
    stored = [item for (partition, _), item in sorted((await dump()).items()) if partition == "OWNER#pia"]
    assert [item["kind"] for item in items] == [item["entityType"] for item in stored]
    text = json.dumps(items, ensure_ascii=False)
    assert {secret for secret in SECRETS if secret not in text} == ELSEWHERE
    assert await exported(lived, 7) == items
    wire.reset()
    (page,) = [nodes async for nodes in paged(lived, EXPORT, 100)]
    assert [one["reservation"]["reservationId"] for one in page if one["reservation"]] == ["r1", "r2"]
    # One page; then the details of both together, the codes of each, and the payments of the booking.
    assert wire.operations == {"Query": 4, "BatchGetItem": 1}


async def test_an_owner_exports_itself_without_what_tells_who_others_are(lived: Api) -> None:
    own, whole = [json.dumps(await exported(api)) for api in (lived.by(PIA), lived)]
    assert "development" in whole
    assert "development" not in own
    assert '"root"' not in own.replace('"decidedBy": "root"', "")
    assert PIA.subject in own
    for other in (owner("ada"), admin("root")):
        answer = await lived.by(other).send(EXPORT, first=1)
        assert ("errors" in answer) is (other.owner_id == "ada")
