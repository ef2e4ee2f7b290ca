from typing import Any

import pytest
from graphql import get_named_type, is_non_null_type

from tests import mutations, webhooks
from tests.api import Api, mutation
from tests.conftest import Clock, Dump
from tests.inputs import MUTATIONS
from tests.places import approve, book, create_location, prepare, refusal, reject, ulid
from tests.wire import Wire

PRESENT = {name: one.present for name, one in mutations.MUTATIONS.items() if one.present is not None}


def test_every_mutation_with_a_version_is_tested_here_and_takes_a_change_id() -> None:
    inputs: dict[str, Any] = {name: field.args["input"].type.of_type for name, field in MUTATIONS.items()}
    versioned = {name for name, given in inputs.items() if "expectedVersion" in given.fields}
    assert versioned == {name for name, given in inputs.items() if "changeId" in given.fields}
    # What a change of a reservation does depends on its state, so its version is optional.
    optional = {name for name in versioned if not is_non_null_type(inputs[name].fields["expectedVersion"].type)}
    assert (versioned - optional, {name.endswith("Reservation") for name in optional}) == (set(PRESENT), {True})


@pytest.mark.parametrize("name", PRESENT)
async def test_a_change_to_the_present_value_is_none(api: Api, wire: Wire, clock: Clock, dump: Dump, name: str) -> None:
    await prepare(api)
    await create_location(api, 1)
    await api.locker("l1", "ada", locationId=ulid(0))
    await api.locker("l2", "ada", locationId=ulid(0))
    await book(api, "yes", date="2026-03-11")
    await book(api, "no")
    await approve(api, "yes")
    await reject(api, "no")
    for webhook in ("w0", "w1"):
        await webhooks.create(api, webhook)
    for key in ("k0", "k2"):
        await api.done(mutation("createApiKey", "__typename"), keyId=key, name="x", role="DEVICE", lockerId="l1")
    for change, one in mutations.MUTATIONS.items():
        if one.brings is not None:
            await api.done(mutation(change, "__typename"), **one.brings, expectedVersion=1)
    clock.move(minutes=1)
    before = await dump()
    wire.reset()
    payload_type: Any = get_named_type(MUTATIONS[name].type)
    (entity,) = payload_type.fields.keys() - {"userErrors"}
    content = PRESENT[name]
    document = mutation(name, f"{entity} {{ version updatedAt }}")
    payload = await api.mutate(document, **content, changeId="c1")
    version = content["expectedVersion"]
    shown_before = {"version": version, "updatedAt": "2026-03-01T12:00:00.000Z"}
    assert payload == {entity: shown_before, "userErrors": []}
    assert wire.operations.keys() == {"GetItem"}
    stale = await api.mutate(document, **content | {"expectedVersion": version - 1})
    assert refusal(stale) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
    assert stale[entity] == shown_before
    assert await dump() == before
