"""The pages of access patterns, permissions and events, generated from contracts and bindings; see `pages/`."""

from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

from pydantic.alias_generators import to_snake

from domain.activity import Activity, ActivityKind, Change, Happening, ids_of
from domain.authorization import Scope
from domain.times import Instant
from domain.webhook_bodies import body_ids, body_of_test, body_schemas, delivery_body
from loaders import keys
from loaders.contracts.base import Contract
from loaders.contracts.cost import ALWAYS, Cost
from loaders.contracts.reading import ReadKinds, ReadOne, ReadPage, ReadTail
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.scanning import ReadItems, ReadRanges, ReadTable
from loaders.contracts.writing import WriteContract
from loaders.table.positions import Key, KeyRange
from resolvers.bindings.base import Reading
from resolvers.bindings.rules import AS_OBJECT
from resolvers.bindings.writes import Writing
from resolvers.plan.bound_schema import BoundField, BoundSchema

_EXAMPLE_TIME = Instant("2026-03-01T12:00:00.000Z")
_STATUS = "status"
_CHANGES = {
    ActivityKind.BOOKING_APPROVED: Change(_STATUS, "PENDING", "APPROVED"),
    ActivityKind.BOOKING_CANCELLED: Change(_STATUS, "APPROVED", "CANCELLED"),
    ActivityKind.BOOKING_REJECTED: Change(_STATUS, "PENDING", "REJECTED"),
    ActivityKind.CALLER_BUDGET_CHANGED: Change("unitsPerMinute", None, "600"),
    ActivityKind.LOCATION_CHANGED: Change("name"),
    ActivityKind.LOCATION_DEACTIVATED: Change(_STATUS, "ACTIVE", "INACTIVE"),
    ActivityKind.LOCATION_REACTIVATED: Change(_STATUS, "INACTIVE", "ACTIVE"),
    ActivityKind.LOCKER_CHANGED: Change("locationId", "location-2", "location-1"),
    ActivityKind.LOCKER_RETIRED: Change(_STATUS, "AVAILABLE", "RETIRED"),
    ActivityKind.LOCKER_STATUS_CHANGED: Change(_STATUS, "AVAILABLE", "OCCUPIED"),
    ActivityKind.LOCKER_TRANSFERRED: Change("ownerId", "owner-2", "owner-1"),
    ActivityKind.OWNER_CHANGED: Change("email"),
    ActivityKind.WEBHOOK_CHANGED: Change("url"),
    ActivityKind.RESERVATION_CANCELLED: Change(_STATUS, "ACTIVE", "CANCELLED"),
    ActivityKind.RESERVATION_CHANGED: Change("endAt", "2026-03-01T18:00:00.000Z", "2026-03-01T20:00:00.000Z"),
    ActivityKind.RESERVATION_RELEASED: Change(_STATUS, "ACTIVE", "COMPLETED"),
    ActivityKind.RESERVATION_STARTED: Change("startedAt", None, _EXAMPLE_TIME),
}
"""A change for each kind that always has some: the tests compare them with those that are logged."""


def access_patterns(schema: BoundSchema) -> str:
    used = fields_by_contract(schema)
    rows = ["| id | purpose | operation | used by |", "|---|---|---|---|"]
    rows += [
        f"| {_link(contract)} | {contract.purpose} | {contract.operation} | {_names(used[contract.id])} |"
        for contract in CONTRACTS.values()
    ]
    sections = [_section(contract, used[contract.id]) for contract in CONTRACTS.values()]
    return _page("access-patterns.md", CONTRACTS=rows, SECTIONS=sections)


def permissions(schema: BoundSchema) -> str:
    rows = ["| field | admin | support | owner | partner | device | stranger |", "|---|---|---|---|---|---|---|"]
    unrestricted = []
    for type_name, fields in types_in_order(schema):
        rows += [_rule_row(field) for field in fields.values() if field.binding.rule != AS_OBJECT]
        names = [f"`{name}`" for name, field in fields.items() if field.binding.rule == AS_OBJECT]
        if names:
            unrestricted.append(f"- `{type_name}`: {', '.join(names)}")
    return _page("permissions.md", RULES=rows, FIELDS=unrestricted)


def events() -> str:
    writes = [contract for contract in CONTRACTS.values() if isinstance(contract, WriteContract)]
    emitted = {kind for contract in writes for kind in contract.emits}
    rows = ["| kind | when | ids | by |", "|---|---|---|---|"]
    for kind in sorted(emitted):
        by = ", ".join(f"`{name}`" for name in kind.by) or "time"
        ids = ", ".join(f"`{name}`" for name in ids_of(kind))
        rows.append(f"| `{kind}` | {kind.description} | {ids} | {by} |")
    bodies = [_body(kind) for kind in sorted(emitted)]
    test = body_of_test("webhook-1", _EXAMPLE_TIME).decode()
    return _page("events.md", KINDS=rows, BODIES=[*bodies, test])


def _body(kind: ActivityKind) -> str:
    """The body of a webhook with everything that it can have."""
    ids: dict[str, Any] = {to_snake(name): name.removesuffix("Id") + "-1" for name in body_ids(kind)}
    data = body_schemas()["definitions"][kind]["properties"]["data"]["properties"]
    happening = Happening(
        kind=kind,
        **ids,
        version=(2 if kind in _CHANGES else 1) if "version" in data else None,
        outcome="COMPLETED" if "outcome" in data else None,
        changes=(_CHANGES[kind],) if kind in _CHANGES else (),
    )
    activity = Activity(activity_id="", occurred_at=_EXAMPLE_TIME, actor=None, happening=happening)
    return delivery_body(activity, "order-1" if "reference" in data else None, None).decode()


def _page(name: str, **lines: list[str]) -> str:
    text = (Path(__file__).parent / "pages" / name).read_text()
    return Template(text).substitute({part: "\n".join(found) for part, found in lines.items()})


def fields_by_contract(schema: BoundSchema) -> dict[str, list[BoundField]]:
    """The fields that use each contract, root fields first."""
    used: dict[str, list[BoundField]] = {contract_id: [] for contract_id in CONTRACTS}
    for _, fields in types_in_order(schema):
        for field in fields.values():
            contracts = field.binding.contracts if isinstance(field.binding, Reading) else ()
            for contract_id in dict.fromkeys(contract.id for contract in contracts):
                used[contract_id].append(field)
    return used


def types_in_order(schema: BoundSchema) -> list[tuple[str, dict[str, BoundField]]]:
    """The object types with their fields: queries, mutations, then everything else by name."""
    return sorted(schema.types.items(), key=lambda entry: (entry[0] != "Query", entry[0] != "Mutation", entry[0]))


def _rule_row(field: BoundField) -> str:
    rule = field.binding.rule
    partner = f"`{rule.partner}`" if rule.partner in set(Scope) else rule.partner
    partner = f"{partner}, offered" if rule.or_offered else partner
    return f"| `{field.name}` | yes | {rule.support} | {rule.owner} | {partner} | {rule.device} | no |"


def _section(contract: Contract, used: list[BoundField]) -> str:
    lines = [f"## {contract.id}", "", f"{contract.purpose}. {contract.note}".rstrip(), ""]
    match contract:
        case ReadOne():
            lines += _read_one(contract)
        case ReadKinds():
            lines.append("- BatchGetItem of one item of each kind:")
            lines += [f"    - {_spelled(codec.key)}" for codec in contract.codecs]
            lines.append("- Consistency: eventual")
            lines.append(f"- Read units: {contract.maximum(contract.codecs).read_units:g} at most")
        case ReadPage():
            lines += _read_page(contract)
        case ReadTable():
            lines += [
                f"- Scan of the whole table, Limit {contract.page_size}: all attributes",
                f"- Consistency: {'strong' if contract.consistent else 'eventual'}",
            ]
        case ReadRanges():
            lines += [f"- Query, Limit {contract.page_size}: {_spelled(within)}" for within in contract.ranges]
            lines.append("- Consistency: strong")
        case ReadItems():
            lines += ["- BatchGetItem for up to 100 keys of any items", "- Consistency: strong"]
        case ReadTail():
            lines += [
                f"- Query, Limit {contract.most}: {_spelled(contract.range)}",
                "- Order: ASC",
                "- Consistency: eventual or strong",
            ]
        case WriteContract():
            lines += _write(contract, used)
    errors = ", ".join(f"{error.code} {error.status}" for error in contract.errors) or "none of its own"
    lines += [
        f"- Expected cardinality: {contract.cardinality}",
        f"- Hot-partition risk: {contract.hot_partition}",
        f"- Errors: {errors}",
        f"- Used by: {_names(used)}",
        "",
    ]
    return "\n".join(lines)


def _read_one(contract: ReadOne[Any]) -> list[str]:
    lines = [f"- GetItem, or BatchGetItem for up to 100 keys: {_spelled(contract.key)}"]
    if contract.then is not None:
        lines.append(f"- Then: {_link(contract.then)}, with the key that the item names")
    return [
        *lines,
        f"- Consistency: {contract.consistency.value}",
        f"- Read units of an item: {contract.expected_units:g} expected, {contract.maximum_units:g} at most",
    ]


def _read_page(contract: ReadPage[Any]) -> list[str]:
    rule = contract.page_rule
    if rule.whole:
        page = f"the whole range at once, {rule.maximum} items at most"
    elif rule.maximum == 1:
        page = "one item, Limit 1"
    else:
        page = f"{rule.default} items by default, {rule.maximum} at most; Limit is the page size + {rule.look_ahead}"
    lines = [
        f"- Query: {_spelled(contract.range)}",
        f"- Order: {' or '.join(contract.orders)}",
        f"- Page: {page}",
        f"- Consistency: {contract.consistency.value}",
    ]
    lines += [
        f"- Read units of {size} {'item' if size == 1 else 'items'}: {contract.expected(size).read_units:g} expected, "
        f"{contract.maximum(size).read_units:g} at most"
        for size in dict.fromkeys((rule.default, rule.maximum))
    ]
    return lines


def _write(contract: WriteContract, used: list[BoundField]) -> list[str]:
    transaction = f"TransactWriteItems, at most {contract.most_items} items"
    request = {"PutItem": f"PutItem of one item, or {transaction}", "UpdateItem": "UpdateItem of one item"}
    lines = [f"- Reads: {read.text}" for read in contract.reads]
    lines.append(f"- {request.get(contract.operation, transaction)}:")
    lines += [
        f"    - {rule.action.value} {rule.name}: {_spelled(rule.key)}"
        + (f"; if `{rule.condition}`" if rule.condition else "; without a condition")
        + ("" if rule.when == ALWAYS else f"; when {rule.when}")
        for rule in contract.rules
    ]
    emits = ", ".join(f"`{kind}`" for kind in contract.emits)
    lines.append(f"- Logs: {emits or f'nothing. {contract.silent}'}")
    if contract.rounds > 1:
        lines.append(f"- Attempts: up to {contract.rounds}, where concurrent writes change what was read")
    if contract.settles is not None:
        lines.append(f"- Then, where the change before it is not whole: {_link(contract.settles)}")
    own = (field.binding for field in used if isinstance(field.binding, Writing) and field.binding.contract is contract)
    variants = list(dict.fromkeys(binding.variant for binding in own)) or [None]
    for variant in variants:
        expected, most = _write_costs(contract, variant)
        name = "" if variant is None or len(variants) == 1 else f" to {variant}"
        entries = "" if contract.most_entries == 1 else f" for {contract.most_entries} entries"
        lines.append(f"- Units{name}{entries}: {_units(expected)} expected, {_units(most)} at most")
    return lines


def _write_costs(contract: WriteContract, variant: str | None) -> tuple[Cost, Cost]:
    expected = most = Cost()
    for request in contract.costs(variant, contract.most_entries):
        expected += request.expected if request.when == ALWAYS else Cost()
        most += request.maximum
    return expected, most


def _units(cost: Cost) -> str:
    read = f"{cost.read_units:,g} read and " if cost.read_units else ""
    return f"{read}{cost.write_units:,g} write"


def _link(contract: Contract) -> str:
    return f"[{contract.id}](#{contract.id.lower()})"


def _names(fields: list[BoundField]) -> str:
    return ", ".join(f"`{field.name}`" for field in fields) or "no field"


def _spelled(builder: Callable[..., Key | KeyRange]) -> str:
    partition, sort = keys.spelled(builder)
    return f"`{partition}`, `{sort}`"
