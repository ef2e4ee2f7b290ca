import re
from pathlib import Path
from typing import Any

import pytest_asyncio
from graphql import TypeInfo, TypeInfoVisitor, Visitor, get_named_type, is_composite_type, parse, visit

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from loaders.backend import Backend
from resolvers.bindings.nodes import to_global_id
from resolvers.schema import bound_schema
from tests import codes, places, webhooks
from tests.api import RENAME, Api, mutation, unchanged
from tests.conftest import Dump, OpenApi
from tests.history import keep_history
from tests.principals import SUPPORT, device, device_at, owner, partner
from tests.reservations import CANCEL, overdue_item
from tests.resolvers.permission_cases import CASES, Case
from tests.tables import PlainClient, put
from tests.wire import Wire

PAGE = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text()
SCHEMA = bound_schema().graphql_schema
TENANTS = {"acme": "2026-03-10", "bob": "2026-03-11"}
ACTORS: dict[str, Principal] = {
    "admin": DEVELOPMENT_ADMIN,
    "support": SUPPORT,
    "owner acme": owner("acme"),
    "owner bob": owner("bob"),
    "member of acme": owner("mia", "acme"),
    "owner who reserved both lockers": owner("guest"),
    "partner of acme without scopes": partner(of="acme"),
    **{f"partner of acme with {scope}": partner(scope, of="acme") for scope in Scope},
    "device of acme's locker": device("locker-acme"),
    "device of bob's locker": device("locker-bob"),
    "device of the location's door": device_at(places.ulid(0)),
}
OF_ACTIVITIES = {f"Activity.{name}" for name in ("locker", "owner", "reservation", "booking", "accessCode")}
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
RESERVE = mutation("createReservation", "reservation { status }")


def committed() -> dict[str, list[str]]:
    """The cells of each field by role, then without credentials; none where the object decides."""
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (.*) \|$", PAGE, re.MULTILINE)
    seen = re.findall(r"^- `(\w+)`: (`.*`)$", PAGE, re.MULTILINE)
    of_objects: dict[str, list[str]] = {
        f"{kind}.{name}": [] for kind, names in seen for name in re.findall(r"`(\w+)`", names)
    }
    return of_objects | {name: [cell.strip(" `") for cell in cells.split("|")] for name, cells in rows}


MATRIX = committed()


def is_allowed(name: str, actor: Principal, tenant: str) -> bool:
    """Whether the page allows a field on an object of a tenant."""
    if not MATRIX[name]:
        return True
    admin, support, of_owner, of_partner, of_device, _ = MATRIX[name]
    match actor.role:
        case Role.ADMIN:
            return admin == "yes"
        case Role.SUPPORT:
            return support == "yes"
        case Role.OWNER:
            own, member = actor.owner_id == tenant, tenant in actor.organizations
            uses = dict.fromkeys(("own, organization's", "own, organization's, offered"), own or member)
            return {"yes": True, "no": False, "own": own, "offered": True, **uses}[of_owner]
        case Role.PARTNER:
            bound = tenant in actor.partner_of or name.startswith("Location.")  # whatever is at the location
            finds = bound and not actor.scopes.isdisjoint({Scope.LOCKERS_READ, Scope.RESERVATIONS_WRITE})
            cells = {"yes": True, "no": False, "bound": bound, "lockers:read`, offered": finds}
            return cells.get(of_partner, bound and of_partner in actor.scopes)
        case Role.DEVICE:
            own = actor.locker_id == f"locker-{tenant}"
            at_place = name.startswith(("Query.location", "Location."))
            own_door = actor.location_id is not None if at_place else own
            return {"no": False, "own locker": own, "own door": own_door}[of_device]


class Walk(Visitor):
    """Collects every field of a document with its path, its name in the schema and whether it has fields itself."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self.info = info
        self.path: list[str] = []
        self.found: list[tuple[tuple[str, ...], str, bool]] = []

    def enter_field(self, node: Any, *_: Any) -> None:
        self.path.append(node.name.value)
        kind, field = self.info.get_parent_type(), self.info.get_field_def()
        if node.name.value != "__typename" and kind is not None and field is not None:
            name = f"{kind.name}.{node.name.value}"
            self.found.append((tuple(self.path), name, is_composite_type(get_named_type(field.type))))

    def leave_field(self, *_: Any) -> None:
        self.path.pop()


def fields_of(document: str) -> list[tuple[tuple[str, ...], str, bool]]:
    info = TypeInfo(SCHEMA)
    walk = Walk(info)
    visit(parse(document), TypeInfoVisitor(info, walk))
    return [entry for entry in walk.found if entry[1].split(".")[0] not in {"Node", "UserError"}]


WALKS = [fields_of(case.document) for case in CASES]
SUBSCRIPTIONS = {
    "Subscription.lockerActivity": 'lockerActivity(lockerId: "locker-@tenant")',
    "Subscription.locationActivity": 'locationActivity(locationId: "@place")',
    "Subscription.ownerActivity": 'ownerActivity(ownerId: "@tenant")',
    "Subscription.activity": "activity",
}


@pytest_asyncio.fixture
async def stocked(api: Api, backend: Backend, plain_client: PlainClient, table: str) -> Api:
    """Two tenants that have one of everything, a member of the first, and a guest who reserved their lockers."""
    await api.owner("root", role="ADMIN")
    await api.owner("mia")
    await api.owner("guest")
    place = await places.create_location(api, 0, code="rome", managerId="root")
    await api.mutate(codes.VERIFY, locationId=place, digits="000000", attemptId="attempt")
    await api.mutate(codes.PROVISION, locationId=place, generation=1)
    await api.mutate(CREATE_KEY, keyId="key-1", name="Door", role="DEVICE", lockerId="locker-acme")
    for tenant, day in TENANTS.items():
        await api.owner(tenant, email=f"{tenant}@example.com")
        locker = f"locker-{tenant}"
        await api.locker(locker, tenant, locationId=places.ulid(0))
        made = await api.mutate(
            RESERVE,
            lockerId=locker,
            reservationId=f"current-{tenant}",
            ownerId=tenant,
            startAt="2026-03-01T11:00:00Z",
            endAt="2026-03-01T13:00:00Z",
            reference=f"order-{tenant}",
            recipient={"name": "Rita", "email": "rita@example.com"},
        )
        assert not made["userErrors"]
        await api.reservation(f"canceled-{tenant}", locker, tenant, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")
        await api.reservation(f"guest-{tenant}", locker, "guest", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")
        await api.mutate(CANCEL, lockerId=locker, reservationId=f"canceled-{tenant}")
        await api.event(locker, eventId=f"event-{tenant}")
        for code in (f"code-{tenant}", f"revoked-{tenant}"):
            await codes.create(api, code, lockerId=locker, reservationId=f"current-{tenant}")
        await api.mutate(codes.REVOKE, lockerId=locker, codeId=f"revoked-{tenant}")
        await codes.verify(api, "000000", f"attempt-{tenant}", locker)
        await api.mutate(codes.CLEAR, lockerId=locker)
        await api.mutate(codes.PROVISION, lockerId=locker, generation=1)
        for booking in ("booking", "rejected", "pending"):
            await places.book(api, f"{booking}-{tenant}", ownerId=tenant, date=day)
        await places.approve(api, f"booking-{tenant}")
        rejection = {"reason": "No", "expectedVersion": 1}
        await api.mutate(places.REJECT, bookingId=f"rejected-{tenant}", **rejection)
        await api.mutate(
            places.PAY,
            bookingId=f"booking-{tenant}",
            paymentId=f"payment-{tenant}",
            amount={"amount": 1, "currency": "EUR"},
        )
        await api.done(RENAME, lockerId=locker, expectedVersion=1, alias="Left")
        for webhook in (f"webhook-{tenant}", f"deleted-{tenant}"):
            await webhooks.create(api, webhook, ownerId=tenant)
        await api.done(webhooks.DELETE, webhookId=f"deleted-{tenant}")
        await api.done(webhooks.TEST, webhookId=f"webhook-{tenant}", testId="asked")
        await webhooks.deliver(backend, f"webhook-{tenant}")
    await put(plain_client, table, overdue_item("locker-bob", "current-bob", "bob", "2026-03-01T11:00:00.000Z"))
    await keep_history(backend.store)
    return api


def filled(document: str, actor: Principal, tenant: str) -> str:
    """The document for one tenant; who reserves, reserves for itself."""
    reserves = actor.owner_id if actor.role is Role.OWNER else tenant
    values = {
        "@reserves": str(reserves),
        "@place": places.ulid(0),
        "@event": to_global_id("AccessEvent", f"locker:locker-{tenant}", "2026-03-01T12:00:00.000Z", f"event-{tenant}"),
        "@locker": to_global_id("Locker", f"locker-{tenant}"),
        "@day": TENANTS[tenant],
        "@tenant": tenant,
    }
    for name, value in values.items():
        document = document.replace(name, value)
    return document


def refused_paths(case: Case, walk: list[tuple[tuple[str, ...], str, bool]], actor: Principal, tenant: str) -> set[Any]:
    """Where the page says that an answer ends: the first field of each path that may not be used."""
    names = {path: case.rules.get(path, name) for path, name, _ in walk}
    reserved = case.reserved if actor.owner_id == "guest" else ()
    refused = {path for path, name in names.items() if path not in reserved and not is_allowed(name, actor, tenant)}
    return {path for path in refused if not any(path[:length] in refused for length in range(1, len(path)))}


def silent_paths(walk: list[tuple[tuple[str, ...], str, bool]], actor: Principal) -> set[Any]:
    """Where somebody else's object is null without an error, for callers who may see their own there."""
    if actor.role is not Role.OWNER and Scope.BOOKINGS_READ not in actor.scopes:
        return set()
    quiet = {"CalendarEvent.booking", *(OF_ACTIVITIES if actor.role is Role.OWNER else ())}
    return {path for path, name, _ in walk if name in quiet}


def values_at(data: Any, path: tuple[str, ...]) -> list[Any]:
    """The values at a path, once for each entry of the lists on the way."""
    if isinstance(data, list):
        return [value for entry in data for value in values_at(entry, path)]
    return values_at(data[path[0]], path[1:]) if path and data else [data]


def check_query(
    answer: dict[str, Any],
    case: Case,
    walk: list[tuple[tuple[str, ...], str, bool]],
    refused: set[Any],
    silent: set[Any],
    about: Any,
) -> None:
    errors = answer.get("errors", [])
    assert {error["extensions"]["code"] for error in errors} <= {"FORBIDDEN"}, (about, errors)
    assert {error["extensions"]["status"] for error in errors} <= {403}, about
    paths = {tuple(part for part in error["path"] if isinstance(part, str)) for error in errors}
    assert paths == refused - silent, (about, errors)
    for path, _, has_fields in walk:
        hidden = any(path[:length] in refused for length in range(1, len(path) + 1))
        if hidden or (has_fields and path not in case.optional):
            assert all(bool(value) is not hidden for value in values_at(answer["data"], path)), (about, path)


def check_mutations(answer: dict[str, Any], refused: set[Any], about: Any) -> None:
    assert "errors" not in answer, (about, answer["errors"])
    for name, payload in answer["data"].items():
        parts = [payload, *(payload.pop("results", None) or ())]
        errors = [error for part in parts for error in part.pop("userErrors")]
        # What a webhook is told may require more than the field.
        codes = {(one["code"], one["status"]) for one in errors if not one["message"].startswith("The webhook is told")}
        if (name,) in refused:
            assert codes == {("FORBIDDEN", 403)}, (about, name, payload)
            assert {value for part in parts for value in part.values()} <= {None}, (about, name)
        else:
            assert ("FORBIDDEN", 403) not in codes, (about, name, payload)


def without(data: Any, refused: set[Any], path: tuple[str, ...] = ()) -> Any:
    """An answer with null at the paths that are refused."""
    if path in refused:
        return None
    if isinstance(data, list):
        return [without(entry, refused, path) for entry in data]
    if not isinstance(data, dict):
        return data
    return {name: without(value, refused, (*path, name)) for name, value in data.items()}


async def test_every_field_is_open_to_exactly_the_roles_of_the_permissions_page(stocked: Api, dump: Dump) -> None:
    of_admin = {}
    async with unchanged(dump):
        for name, actor in ACTORS.items():
            for tenant in TENANTS:
                for place, (case, walk) in enumerate(zip(CASES, WALKS, strict=True)):
                    answer = await stocked.by(actor).send(filled(case.document, actor, tenant))
                    refused = refused_paths(case, walk, actor, tenant)
                    if case.document.startswith("mutation"):
                        check_mutations(answer, refused, (name, tenant))
                    else:
                        check_query(answer, case, walk, refused, silent_paths(walk, actor), (name, tenant))
                    if name == "admin":
                        of_admin[tenant, place] = answer["data"]
                    elif name == "support" and not case.document.startswith(("mutation", "{ viewer")):
                        assert answer["data"] == without(of_admin[tenant, place], refused), case.document


def test_support_reads_what_admins_read_but_what_is_named_and_clears_lockouts() -> None:
    cells = {name: (admin, support) for name, (admin, support, *_) in filter(lambda row: row[1], MATRIX.items())}
    assert [name for name in cells if name.startswith("Mutation.") and cells[name] == ("yes", "yes")] == [
        "Mutation.clearLockout"
    ]
    refused = {name for name in cells if not name.startswith("Mutation.") and cells[name] == ("yes", "no")}
    of_keys = {"Query.apiKey", "Query.apiKeys", "ApiKey.owners", "Query.callerBudgets"}
    assert refused == of_keys | {"Reservation.details", "Owner.export", "Query.reservationsOfRecipient"}


async def test_a_subscription_is_open_to_exactly_the_roles_of_the_permissions_page(stocked: Api) -> None:
    for name, actor in ACTORS.items():
        for tenant in TENANTS:
            for field, selection in SUBSCRIPTIONS.items():
                query = filled(f"subscription {{ {selection} {{ activityId }} }}", actor, tenant)
                api = stocked.by(actor)
                headers = {**api.headers, "Accept": "application/json"}  # so it does not begin, even where it may
                (error,) = (await api.client.post("/graphql", json={"query": query}, headers=headers)).json()["errors"]
                code = "BAD_USER_INPUT" if is_allowed(field, actor, tenant) else "FORBIDDEN"
                assert error["extensions"]["code"] == code, (name, tenant, field, error)


def test_every_field_of_the_schema_stands_on_the_page_and_is_asked_for() -> None:
    kinds = [kind for kind in SCHEMA.type_map.values() if hasattr(kind, "fields") and hasattr(kind, "interfaces")]
    names = {
        f"{kind.name}.{name}"
        for kind in kinds
        for name in kind.fields
        if kind.name[:2] != "__" and kind.name not in {"Node", "UserError"}
    }
    assert set(MATRIX) == names
    assert {name for walk in WALKS for _, name, _ in walk} | SUBSCRIPTIONS.keys() == names


async def test_a_request_without_credentials_may_use_nothing(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(authenticator=None, profile="production") as api:
        for case in CASES:
            document = filled(case.document, DEVELOPMENT_ADMIN, "acme")
            response = await api.client.post("/graphql", json={"query": document})
            (error,) = response.json()["errors"]
            assert (response.status_code, error["extensions"]["code"]) == (401, "UNAUTHENTICATED"), document
            assert "data" not in response.json()
    assert not wire.calls
