"""A binding: the one description of a field, from which its arguments, price and execution come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, compress
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

import strawberry
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.arguments import StrawberryArgument
from strawberry.types.field import StrawberryField
from typing_extensions import dataclass_transform

from domain.authorization import sees_all
from loaders.contracts.base import MAX_ITEMS, Contract
from loaders.contracts.cost import Cost
from loaders.contracts.reading import ReadOne
from resolvers.bindings.rules import AS_OBJECT, Rule
from resolvers.request_state import ArgumentContext, RequestState

T = TypeVar("T")

BINDING = "smartlocker.binding"
"""Key of the binding in a Strawberry field's metadata."""

NULL_WITH_ERROR = "Null only with an error, such as `FORBIDDEN`."
_NOTHING = Cost()
EVERYTHING = frozenset({"*"})
"""The attributes that a function reads of an object, unless they are known."""


Source: TypeAlias = "str | Callable[[Any, RequestState], Any]"
"""Where a value comes from: an attribute of the object, or a function of the object and the request."""


def _read_by(source: Source) -> frozenset[str]:
    return frozenset({source}) if isinstance(source, str) else EVERYTHING


class Argument(NamedTuple):
    """An argument that a binding adds to its field; of a lookup, `parse` checks a value that names the object."""

    name: str
    type: Any
    description: str
    default: Any = strawberry.UNSET
    parse: Callable[..., Any] | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """The price of a field's operations through one contract; a `condition` marks a fallback that is seldom needed."""

    contract: Contract
    operation: str
    expected: Cost = _NOTHING
    maximum: Cost = _NOTHING
    condition: str | None = None


class FieldStep:
    """The place of a binding in a document: the response path, and what is selected below."""

    __slots__ = ("has_steps", "path", "uses")

    def __init__(self, path: str, uses: frozenset[str], *, has_steps: bool) -> None:
        self.path = path
        """Response path without list indices."""
        self.uses = uses
        """The attributes of the found objects that their columns, rules and steps read."""
        self.has_steps = has_steps
        """Whether a field is selected of the found objects that is no column."""


class Call(NamedTuple):
    """A field at one place of a document: its step, the parents that it is asked for, and its checked arguments."""

    step: Any
    rows: Sequence[Any]
    bound: Any
    outputs: Sequence[dict[str, Any]] = ()
    """Where the runner puts its results."""


class Known(NamedTuple):
    """Objects whose records are being read: what identifies them, and what else is known of them already."""

    step: Any
    rows: Sequence[Any]
    identity: AbstractSet[str]
    attributes: AbstractSet[str]


class Execution(Protocol):
    """The part of the execution that bindings use."""

    request: RequestState

    def found(self, binding: Reading, calls: Sequence[Call]) -> Awaitable[list[list[Any]]]:
        """For each call what a binding fetches, or what was fetched for it early."""

    def start_early(self, known: Sequence[Known]) -> None:
        """Starts the steps below objects that need only what is known of them."""

    def note_items(self, step: Any) -> None:
        """Notes that a list has an item, which proves that its object exists."""

    def has_items(self, step: Any) -> bool:
        """Whether a list of the objects that a step finds has an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The base of all bindings: a rule, and the attributes of its object that it needs."""

    rule: Rule = AS_OBJECT

    when_null: ClassVar[str] = ""
    """Ends the field's description, if null has one meaning only."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Binding):
    """A value of the object itself: an attribute, or a function of the object and the request.

    What a function reads is taken to be everything, unless `reads` says what.
    """

    source: Source = ""
    reads: tuple[str, ...] | None = None

    @property
    def needs(self) -> frozenset[str]:
        if self.reads is not None:
            return frozenset(self.reads)
        return _read_by(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded(Binding):
    """An object, or a list of them, that the object already holds. `most` bounds a list that is not a page.

    `are_items` says that these are the items of a list, and `condition` where there are any, unless there always are.
    """

    source: Source = ""
    most: int = 1
    of_page: bool = False
    are_items: bool = False
    condition: str | None = None

    @property
    def needs(self) -> frozenset[str]:
        return _read_by(self.source)

    def held(self, rows: Sequence[Any], request: RequestState) -> list[Any]:
        source = self.source
        if isinstance(source, str):
            return [getattr(row, source) for row in rows]
        return [source(row, request) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Binding):
    """A field that asks the store, for which there is no default of who may use it.

    `key` is the attribute of its parent that it looks for, or several.
    """

    rule: Rule
    contract: Contract | None = None
    key: str | tuple[str, ...] | None = None

    @property
    def needs(self) -> frozenset[str]:
        if self.key is None:
            return frozenset()
        return frozenset(self.key) if isinstance(self.key, tuple) else frozenset({self.key})

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return () if self.contract is None else (self.contract,)

    def row_keys(self, rows: Sequence[Any]) -> list[Any]:
        """The key of each parent for this field: equal keys have equal results."""
        if self.key is None:
            return [None] * len(rows)
        names = self.key if isinstance(self.key, tuple) else (self.key,)
        return list(map(attrgetter(*names), rows))

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        """Checks the arguments of one request; what it returns is passed to `price` and in each `Call`.

        Raises:
            SmartLockerError: where an argument is wrong; the field then fails without reading.
        """

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        raise NotImplementedError

    def price_key(self, bound: Any) -> Hashable:
        """The arguments on which the price depends, here and below it. Equal keys share one price."""
        key: Hashable = bound
        return key

    def below(self, parents: int, bound: Any, type_name: str) -> int:
        """How many objects of a type it finds at most for so many parents."""
        return parents

    def page_size(self, bound: Any) -> int:
        """How many items a page has, where it finds pages."""
        return 1

    finds_pages: ClassVar[bool] = False
    """Whether the objects that it finds are pages, whose items matter more than they do themselves."""

    async def results(self, calls: Sequence[Call], execution: Execution) -> list[list[Any]]:
        """For each call, and each of its parents: the result, None, or an error. This is all that the runner asks.

        The calls are the places where a document has the field at one level: several where it has aliases.
        """
        rule, principal = self.rule, execution.request.principal
        if not rule.admits(principal):
            return [[rule.refusal(principal)] * len(call.rows) for call in calls]
        if rule.allows is None or sees_all(principal):
            return await execution.found(self, calls)
        if rule.on_result:
            shown = await execution.found(self, calls)
            return [[self._visible(result, execution.request) for result in results] for results in shown]
        permitted = [[rule.permits(principal, row) for row in call.rows] for call in calls]
        asked = [
            call._replace(rows=list(compress(call.rows, admitted)))
            for call, admitted in zip(calls, permitted, strict=True)
        ]
        asked = [call for call in asked if call.rows]
        found = chain.from_iterable(await execution.found(self, asked) if asked else ())
        return [[next(found) if may else rule.refusal(principal) for may in admitted] for admitted in permitted]

    def _visible(self, result: Any, request: RequestState) -> Any:
        """The result, or what replaces it if the caller may not see it."""
        if result is None or isinstance(result, Exception) or self.rule.permits(request.principal, result):
            return result
        if not self.rule.quiet:
            return self.rule.refusal(request.principal)
        request.has_hidden = True
        return None

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        """Reads for all parents of all calls at once: for each a result, None, or an error.

        It runs in stages: all Queries of a stage, then one read of all keys that they lead to.
        """
        raise NotImplementedError

    def reads_alone(self, step: FieldStep) -> bool:
        """Whether `result_alone` can be asked in place of `results` if no other step of the operation reads."""
        return False

    async def result_alone(self, call: Call, request: RequestState) -> Any:
        """The result of a root field, None, or an error. Nobody else asks for what it reads, so no loader keeps it."""
        raise NotImplementedError

    def damages(self, results: Sequence[Any]) -> Iterable[tuple[int, Exception]]:
        """Which results are shown without their damaged items, and what is wrong with one of these."""
        return ()

    def confirms(self, step: FieldStep) -> bool:
        """Whether it is not known before everything below is complete that what it has found exists."""
        return False

    async def confirm(self, calls: Sequence[Call], execution: Execution) -> list[Exception | None]:
        """For each call, once everything below is complete, why what it has found is not shown after all."""
        return [None] * len(calls)


@dataclass_transform(kw_only_default=True)
def described(cls: type[T]) -> type[T]:
    """Declares a type of the schema; the docstring of the class is its description there."""
    return strawberry.type(cls, description=cls.__doc__)


def bound_field(binding: Binding, description: str, arguments: Iterable[Argument] = (), name: str | None = None) -> Any:
    """A Strawberry field with its binding; the executor takes everything else from there.

    `name` is its name in the schema, where Python has none for it.
    """
    description = f"{description} {binding.when_null}".rstrip()
    created: StrawberryField = strawberry.field(name=name, description=description, metadata={BINDING: binding})
    created.arguments = [
        StrawberryArgument(
            python_name=argument.name,
            graphql_name=None,
            type_annotation=StrawberryAnnotation(argument.type),
            description=argument.description,
            default=argument.default,
        )
        for argument in arguments
    ]
    return created


def column(
    description: str,
    source: Source = "",
    *,
    reads: tuple[str, ...] | None = None,
    rule: Rule = AS_OBJECT,
    optional: bool = False,
    name: str | None = None,
) -> Any:
    """A value of the object itself; by default the attribute with the field's own name.

    Where a rule hides it, the description says what null means: also that there is none if it is `optional`.
    """
    if rule is not AS_OBJECT:
        description += f" Null {'also' if optional else 'only'} for callers who may not see it."
    return bound_field(Column(source=source, reads=reads, rule=rule), description, name=name)


def embedded(description: str, source: Source = "", **binding: Any) -> Any:
    return bound_field(Embedded(source=source, **binding), description)


def rows_of(calls: Sequence[Call]) -> Sequence[Any]:
    return calls[0].rows if len(calls) == 1 else [row for call in calls for row in call.rows]


def look_up_charge(
    contract: ReadOne[Any], keys: int, *, consistent: bool = False, condition: str | None = None
) -> Charge:
    """The price of reading so many records by key; with a condition, that of a fallback."""
    operations = -(-keys // MAX_ITEMS)
    times = 2 if consistent else 1
    return Charge(
        contract,
        "GetItem" if keys == 1 else "BatchGetItem",
        _NOTHING if condition else Cost(operations, keys, times * keys * contract.expected_units),
        Cost(operations, keys, times * keys * contract.maximum_units),
        condition,
    )
