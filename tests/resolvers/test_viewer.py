from dataclasses import replace
from typing import Any

import pytest

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Scope
from tests.api import Api
from tests.conftest import OpenApi
from tests.principals import device, owner, partner
from tests.wire import Wire

VIEWER = """{ viewer {
  subject role scopes ownerId organizationIds ownerIds lockerId rateLimit { limit remaining resetSeconds }
} }"""
NOBODY: dict[str, Any] = dict.fromkeys(("ownerId", "lockerId", "rateLimit"))
NOBODY |= {"scopes": [], "organizationIds": [], "ownerIds": []}


@pytest.mark.parametrize(
    ("principal", "shown"),
    [
        (DEVELOPMENT_ADMIN, {"subject": "development", "role": "ADMIN"}),
        (
            owner("ada", "org", "club"),
            {"subject": "ada", "role": "OWNER", "ownerId": "ada", "organizationIds": ["club", "org"]},
        ),
        (
            partner(Scope.LOCKERS_READ, Scope.OWNERS_READ, of=("bob", "ada")),
            {
                "subject": "partner",
                "role": "PARTNER",
                "scopes": ["OWNERS_READ", "LOCKERS_READ"],
                "ownerIds": ["ada", "bob"],
            },
        ),
        (device("l1"), {"subject": "device of l1", "role": "DEVICE", "lockerId": "l1"}),
    ],
)
async def test_every_caller_learns_who_it_is(api: Api, wire: Wire, principal: Principal, shown: dict[str, Any]) -> None:
    assert (await api.by(principal).run(VIEWER))["viewer"] == {**NOBODY, **shown}
    assert wire.calls == []


async def test_development_needs_no_credentials(development_api: Api) -> None:
    assert (await development_api.run("{ viewer { role owner { name } } }"))["viewer"] == {
        "role": "ADMIN",
        "owner": None,
    }


async def test_the_owner_of_a_caller_is_read_where_it_is_selected(api: Api, wire: Wire) -> None:
    await api.owner("ada")
    await api.locker("l1", "ada")
    wire.reset()
    query = "{ viewer { owner { name version lockers { nodes { lockerId } } } } }"
    assert (await api.by(owner("ada")).run(query))["viewer"] == {
        "owner": {"name": "ada", "version": 1, "lockers": {"nodes": [{"lockerId": "l1"}]}}
    }
    assert wire.operations == {"GetItem": 1, "Query": 1}
    wire.reset()
    root = replace(DEVELOPMENT_ADMIN, owner_id=owner("ada").owner_id)
    assert (await api.by(root).run("{ viewer { owner { ownerId } } }"))["viewer"] == {"owner": {"ownerId": "ada"}}
    for principal in (owner("nobody"), partner(), device("l1")):
        assert (await api.by(principal).run("{ viewer { owner { name } } }"))["viewer"] == {"owner": None}


async def test_the_budget_is_what_the_request_leaves(open_api: OpenApi) -> None:
    async with open_api(rate_limit_units=60, rate_limit_burst=10) as api:
        for remaining in (9, 8):
            answer = await api.send("{ viewer { rateLimit { limit remaining resetSeconds } } }")
            assert answer["data"]["viewer"]["rateLimit"] == answer["extensions"]["rateLimit"]
            assert answer["extensions"]["rateLimit"]["remaining"] == remaining
