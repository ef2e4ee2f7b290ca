"""A good input of every mutation, on a table where each of them succeeds."""

from typing import Any

from graphql import get_named_type, is_leaf_type

from loaders.backend import Backend
from resolvers.schema import bound_schema
from tests import mutations
from tests.api import Api, mutation
from tests.places import DEACTIVATE, book, create_location, prepare, ulid
from tests.webhooks import deliver

SCHEMA = bound_schema().graphql_schema
assert SCHEMA.mutation_type is not None
MUTATIONS = SCHEMA.mutation_type.fields
GOOD = {name: one.good for name, one in mutations.MUTATIONS.items()}
CHOSEN_IDS = {name: one.chosen_id for name, one in mutations.MUTATIONS.items() if one.chosen_id is not None}


def document(field: str) -> str:
    """A mutation that selects every scalar field of its result."""
    payload: Any = get_named_type(MUTATIONS[field].type)
    return mutation(
        field, " ".join(_selected(name, part) for name, part in payload.fields.items() if name != "userErrors")
    )


def _selected(name: str, part: Any) -> str:
    kind: Any = get_named_type(part.type)
    if is_leaf_type(kind):
        return name
    if kind.name.endswith("Result"):
        inner = [_selected(own, field) for own, field in kind.fields.items() if own != "userErrors"]
        return f"{name} {{ {' '.join(inner)} userErrors {{ code }} }}"
    leaves = [own for own, field in kind.fields.items() if is_leaf_type(get_named_type(field.type))]
    return f"{name} {{ {' '.join(leaves)} }}"


async def stock(api: Api, backend: Backend) -> None:
    await prepare(api)
    await api.locker("l1", "ada")
    await api.locker("l2", "ada", locationId=ulid(0), size="L")
    await api.reservation("r0", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.reservation("r1", "l1", "ada", "2026-03-05T10:00:00Z", "2026-03-05T11:00:00Z")
    await book(api, "b1")
    await create_location(api, 8)
    await api.mutate(DEACTIVATE, locationId=ulid(8), expectedVersion=1)
    for field, values in (
        ("createCalendarEvent", {"eventId": "c0", "date": "2026-04-01"}),
        ("createApiKey", {"keyId": "k0"}),
        ("createApiKey", {"keyId": "k2"}),
        ("suspendApiKey", {"keyId": "k2"}),
        ("createAccessCode", {"codeId": "c1"}),
        ("provisionDevice", {"generation": 1}),
        ("verifyAccessCode", {"attemptId": "a1"}),
        ("createWebhook", {"webhookId": "w0"}),
        ("disableWebhook", {"webhookId": "w0"}),
        ("createWebhook", {"webhookId": "w1"}),
    ):
        await api.done(document(field), **GOOD[field] | values)
    await deliver(backend, "w1")
