"""Makes the plan of a document before it runs, from the table of costs, the contracts and the selection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain.bookings import LONGEST_CALENDAR_DAYS
from domain.errors import TooComplexError
from domain.times import count_days
from loaders.contract import MOST_ITEMS, GetContract, QueryContract
from loaders.contracts import QC_01
from loaders.cost import ALWAYS, LARGE_PAGE, Cost
from resolvers.costs import (
    NODES,
    Beside,
    ByKey,
    Claimed,
    Days,
    Nodes,
    Paged,
    Written,
    fallback_costs,
    item_units,
    page_cost,
    write_costs,
)
from resolvers.lockers import reads_beside, reads_record
from resolvers.moments import Loading, Moment, Place
from resolvers.owners import reads_profile
from resolvers.plan import Plan, PlanNode
from resolvers.relay import from_global_id
from resolvers.selection import Fields, Selections, operation_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from graphql import DocumentNode, FieldNode, OperationDefinitionNode

    from resolvers.fieldkinds import FieldKind, FieldKinds
    from resolvers.moments import Batch

__all__ = ["WHOSE_LOCKER", "PageSizes", "plan_of"]

_BY_LOCKER = frozenset({"Reservation", "AccessEvent"})
WHOSE_LOCKER = "only where whose the locker is decides who may see it"
_DEEPEST = 50
_SLOTS_A_DAY = 2


@dataclass(frozen=True, slots=True)
class PageSizes:
    """How many items a page has: when none are asked for, and at most."""

    default: int
    maximum: int


def plan_of(
    kinds: FieldKinds,
    document: DocumentNode,
    operation_name: str | None,
    variables: Mapping[str, Any],
    sizes: PageSizes,
) -> Plan:
    """The plan of a valid document's operation.

    Raises:
        TooComplexError: where the document is too deep or selects too much to be planned at all.
    """
    operation = operation_of(document, operation_name)
    if operation is None:
        return Plan.of([], has_pages=False)
    root = operation.operation.value.capitalize()
    planner = _Planner(kinds, Selections(document, operation, variables, kinds.applies_to), sizes)
    return planner.plan(root, operation)


class _Planner:
    """Walks the selection of one request; each kind of reading has a method that charges it and says what is below."""

    def __init__(self, kinds: FieldKinds, selections: Selections, sizes: PageSizes) -> None:
        self._kinds = kinds
        self._selections = selections
        self._sizes = sizes
        self._loading = Loading()
        self._has_pages = False

    def plan(self, root: str, operation: OperationDefinitionNode) -> Plan:
        """The plan of an operation."""
        fields = self._selections.fields(root, [operation])
        tree: list[PlanNode] = []
        # The fields of a query run together; mutations one after another, and each forgets what was read before it.
        for group in [fields] if root == "Query" else [{key: same} for key, same in fields.items()]:
            self._loading = Loading()
            tree += self._walk(root, group, Place(Moment(), 1, 1, None, distinct=True), "", 0)
            self._loading.settle()
        return Plan.of(tree, has_pages=self._has_pages)

    def _walk(self, type_name: str, selected: Fields, place: Place, path: str, depth: int) -> list[PlanNode]:
        """Charges all fields of a selection, then goes below each: what is asked in one moment must be known first."""
        if depth > _DEEPEST:
            raise TooComplexError(f"The document is more than {_DEEPEST} fields deep.")
        kinds = self._kinds.of[type_name]
        below = []
        for key, fields in selected.items():
            kind = kinds.get(fields[0].name.value)
            if kind is not None:
                node = PlanNode(f"{path}{key}", kind.name, place.times)
                below.append((node, kind, fields, self._places(node, kind, fields, place)))
        nodes = []
        for node, kind, fields, places in below:
            for target in kind.targets:
                if target in places:
                    inner = self._selections.fields(target, fields)
                    node.children += self._walk(target, inner, places[target], f"{node.path}.", depth + 1)
            if node.charges or node.children:
                nodes.append(node)
        return nodes

    def _places(self, node: PlanNode, kind: FieldKind, fields: list[FieldNode], place: Place) -> dict[str, Place]:
        match kind.reading:
            case None:
                below = place.below(kind)
            case ByKey() as reading:
                below = self._by_key(node, reading, fields, place)
            case Beside(contract):
                below = self._beside(node, contract, place)
            case Paged() as reading:
                below = self._paged(node, reading, fields, place)
            case Claimed() as reading:
                below = self._claimed(node, reading, fields, place)
            case Days(contract):
                below = self._days(node, contract, fields, place)
            case Written() as reading:
                below = self._written(node, reading, fields)
            case Nodes(argument):
                return self._nodes(node, argument, fields, place)
        return dict.fromkeys(kind.targets, below)

    def _by_key(self, node: PlanNode, reading: ByKey, fields: list[FieldNode], place: Place) -> Place:
        contract = reading.contract
        if reading.argument is None:
            source: Hashable = (place.source, node.field)
            batch = self._loading.load(
                node, contract, source, replace(place, distinct=False), place.loading or place.moment
            )
            return Place(batch, place.times, min(place.together, MOST_ITEMS), source, when=place.when)
        key = self._selections.value(fields[0], reading.argument)
        source = (contract.id, (str(key),))
        if node.field == "Query.owner" and not reads_profile(self._names("Owner", fields)):
            return Place(place.moment, 1, 1, source, distinct=True)
        if reading.consistent and self._selections.value(fields[0], "consistent") is True:
            node.charge(contract.id, "GetItem", ALWAYS, Cost(1, 1, 2 * item_units(contract)))
            known = Moment()
        else:
            known = self._loading.load(node, contract, source, place, place.moment)
        if node.field == "Query.locker" and reads_beside(self._names("Locker", fields)):
            return Place(place.moment, 1, 1, source, loading=known, distinct=True)
        return Place(known, 1, 1, source, distinct=True)

    def _beside(self, node: PlanNode, contract: GetContract | QueryContract, place: Place) -> Place:
        source = (place.source, node.field)
        is_new = not self._loading.knows(contract, source)
        # Who may not see a pointer must not read it, so all but admins wait for the record first.
        moment = place.loading or place.moment if isinstance(contract, GetContract) else place.moment
        batch: Moment = self._loading.load(node, contract, source, place, moment)
        if is_new and isinstance(contract, GetContract):
            for operation, when, cost in fallback_costs(contract):
                node.charge(contract.id, operation, when, cost * place.times)
        if place.loading is not None:
            batch = self._loading.joined(place.loading, batch)
        return Place(batch, place.times, min(place.together, MOST_ITEMS), source, when=place.when)

    def _paged(self, node: PlanNode, reading: Paged, fields: list[FieldNode], place: Place) -> Place:
        size = self._size(fields[0])
        contract, times = reading.contract, place.times
        self._query(node, contract, size, place)
        moment, loading, distinct = Moment(times, place.moment), None, place.distinct or times == 1
        if reading.lockers and reads_record(self._listed(fields)):
            page = Place(moment, times * size, size, node, when=place.when, distinct=distinct)
            loading = self._loading.load(node, QC_01, (node, "record"), page, moment)
            for operation, when, cost in fallback_costs(QC_01, size, MOST_ITEMS):
                node.charge(QC_01.id, operation, when, cost * times)
        return Place(moment, times, 1, node, loading, page=size, when=place.when, distinct=distinct)

    def _claimed(self, node: PlanNode, reading: Claimed, fields: list[FieldNode], place: Place) -> Place:
        contract = reading.contract
        node.charge(contract.id, "GetItem", ALWAYS, Cost(1, 1, contract.claim_units))
        if reading.loaded:
            values = tuple(self._selections.value(fields[0], name) for name in reading.arguments)
            source = (node.field, str(values))
            batch = self._loading.load(node, contract, source, place, Moment())
            return Place(batch, 1, 1, source, distinct=True)
        node.charge(contract.id, "GetItem", ALWAYS, Cost(1, 1, contract.item_units))
        for operation, when, cost in fallback_costs(contract):
            node.charge(contract.id, operation, when, cost)
        if node.field == "Query.reservation":
            _charge_locker(node)
        return Place(Moment(), 1, 1, node)

    def _days(self, node: PlanNode, contract: QueryContract, fields: list[FieldNode], place: Place) -> Place:
        days = _days_of(self._selections.value(fields[0], "window"))
        self._query(node, contract, days * _SLOTS_A_DAY, place)
        return Place(Moment(place.times, place.moment), place.times * days, days, node, when=place.when)

    def _nodes(self, node: PlanNode, argument: str, fields: list[FieldNode], place: Place) -> dict[str, Place]:
        value = self._selections.value(fields[0], argument)
        ids = value[:MOST_ITEMS] if isinstance(value, list) else [value]
        found: dict[str, list[tuple[Hashable, Batch]]] = {}
        for global_id in ids:
            kind, *parts = from_global_id(str(global_id)) or ("",)
            if kind in NODES:
                source = (NODES[kind].id, tuple(parts))
                answer = self._loading.load(node, NODES[kind], source, place, place.moment)
                found.setdefault(kind, []).append((source, answer))
                if kind in _BY_LOCKER:
                    _charge_locker(node)
        if argument == "id":
            return {kind: Place(answer, 1, 1, source, distinct=True) for kind, ((source, answer),) in found.items()}
        known = Moment()
        return {
            kind: Place(known, len(named), len(named), (node, kind), distinct=len(set(named)) == len(named))
            for kind, named in found.items()
        }

    def _written(self, node: PlanNode, reading: Written, fields: list[FieldNode]) -> Place:
        contract = reading.contract
        given = self._selections.value(fields[0], "input")
        listed = given.get(reading.entries) if reading.entries is not None and isinstance(given, dict) else None
        entries = listed if isinstance(listed, list) else [given]
        is_one_item = len(entries) == 1 and not (isinstance(entries[0], dict) and entries[0].get(reading.claimed))
        for operation, when, cost in write_costs(contract, node.field, min(len(entries), contract.most_entries)):
            sent = "TransactWriteItems" if operation == "PutItem" and not is_one_item else operation
            node.charge(contract.id, sent, when, cost)
        return Place(Moment(), 1, 1, node)

    def _query(self, node: PlanNode, contract: QueryContract, size: int, place: Place) -> None:
        """One Query for each parent, and more where a page is too large for one."""
        self._has_pages = True
        cost, times = page_cost(contract, size), place.times
        node.charge(contract.id, "Query", place.when, Cost(times, cost.items * times, cost.read_units * times))
        if cost.operations > 1:
            node.charge(contract.id, "Query", LARGE_PAGE, Cost((cost.operations - 1) * times))

    def _size(self, field: FieldNode) -> int:
        """The items of the page that is asked for; where that is refused later, the most that a page may have."""
        given = [self._selections.value(field, name) for name in ("first", "last")]
        asked = [size for size in given if size is not None] or [self._sizes.default]
        size = asked[0]
        fits = len(asked) == 1 and isinstance(size, int) and 1 <= size <= self._sizes.maximum
        return size if fits else self._sizes.maximum

    def _names(self, type_name: str, fields: list[FieldNode]) -> set[str]:
        found = self._selections.fields(type_name, fields)
        return {field.name.value for fields in found.values() for field in fields}

    def _listed(self, fields: list[FieldNode]) -> set[str]:
        """What is asked of the lockers of a page, through its nodes or its edges."""
        page = self._selections.fields("LockerConnection", fields)
        names: set[str] = set()
        for group in page.values():
            if group[0].name.value == "nodes":
                names |= self._names("Locker", group)
            elif group[0].name.value == "edges":
                for inner in self._selections.fields("LockerEdge", group).values():
                    if inner[0].name.value == "node":
                        names |= self._names("Locker", inner)
        return names


def _charge_locker(node: PlanNode) -> None:
    """Whose a locker is, is read for whoever may see a thing only if the locker is theirs."""
    node.charge(QC_01.id, "GetItem", WHOSE_LOCKER, Cost(1, 1, item_units(QC_01)))


def _days_of(window: Any) -> int:
    """How many days a window has; where it is refused later, the most that one may have."""
    try:
        days = count_days(window["from"], window["to"])
    except (KeyError, TypeError, ValueError):
        return LONGEST_CALENDAR_DAYS
    return days if 1 <= days <= LONGEST_CALENDAR_DAYS else LONGEST_CALENDAR_DAYS
