"""What a binding is: the one description of a field, from which its arguments, price and execution come."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import strawberry
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.arguments import StrawberryArgument
from strawberry.types.field import StrawberryField
from typing_extensions import dataclass_transform

from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.cost import Cost
from resolvers.bindings.rules import AS_OBJECT, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadOne
    from resolvers.request_state import ArgumentContext, RequestState

T = TypeVar("T")

BINDING = "smartlocker.binding"
"""Key of the binding in a Strawberry field's metadata."""

_NOTHING = Cost()
EVERYTHING = frozenset({"*"})
"""What a function reads of an object, unless it is known."""


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
    """What a field asks of the store through one contract; a `condition` marks a fallback that is seldom needed."""

    contract: Contract
    operation: str
    expected: Cost = _NOTHING
    maximum: Cost = _NOTHING
    condition: str | None = None


class FieldStep:
    """What a binding can see of its place in a document: the response path, and what is selected below."""

    __slots__ = ("is_alone", "path", "uses")

    def __init__(self, path: str, uses: frozenset[str]) -> None:
        self.is_alone = False
        """Whether no other step of its document uses one of its contracts: it has nobody to share a batch with."""
        self.path = path
        """Response path without list indices."""
        self.uses = uses
        """The attributes of the found objects that their columns, rules and steps read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What every field has: a rule, and the attributes of its object that it needs."""

    rule: Rule = AS_OBJECT

    @property
    def needs(self) -> frozenset[str]:
        """The attributes of the object that the field needs."""
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
        """Every contract that it uses."""
        return () if self.contract is None else (self.contract,)

    def row_keys(self, rows: Sequence[Any]) -> list[Any]:
        """What identifies each parent for this field: equal keys have equal results."""
        if self.key is None:
            return [None] * len(rows)
        names = self.key if isinstance(self.key, tuple) else (self.key,)
        return list(map(attrgetter(*names), rows))

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        """Checks the arguments of one request; what it returns is passed to `price` and `fetch`.

        Raises:
            SmartLockerError: where an argument is wrong; the field then fails without reading.
        """

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        """What it asks of the store for so many parents."""
        raise NotImplementedError

    def price_key(self, bound: Any) -> Hashable:
        """What of its arguments the price depends on, here and below it. Equal keys share one price."""
        key: Hashable = bound
        return key

    def below(self, parents: int, bound: Any) -> int:
        """How many objects it finds at most for so many parents."""
        return parents

    def page_size(self, bound: Any) -> int:
        """How many items a page has, where it finds pages."""
        return 1

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        """Reads for all parents at once: for each a result, None, or an error."""
        raise NotImplementedError


@dataclass_transform(kw_only_default=True)
def described(cls: type[T]) -> type[T]:
    """Declares a type of the schema; the docstring of the class is its description there."""
    return strawberry.type(cls, description=cls.__doc__)


def bound_field(binding: Binding, description: str, arguments: Iterable[Argument] = ()) -> Any:
    """A Strawberry field with its binding; the executor takes everything else from there."""
    created: StrawberryField = strawberry.field(description=description, metadata={BINDING: binding})
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
    description: str, source: Source = "", *, reads: tuple[str, ...] | None = None, rule: Rule = AS_OBJECT
) -> Any:
    """A value of the object itself; by default the attribute with the field's own name."""
    return bound_field(Column(source=source, reads=reads, rule=rule), description)


def embedded(description: str, source: Source = "", **binding: Any) -> Any:
    """An object or list that the object already holds."""
    return bound_field(Embedded(source=source, **binding), description)


def look_up_charge(
    contract: ReadOne[Any], keys: int, *, consistent: bool = False, condition: str | None = None
) -> Charge:
    """What it costs to read so many records by key; with a condition, what a fallback costs at most."""
    operations = -(-keys // MAX_ITEMS)
    times = 2 if consistent else 1
    return Charge(
        contract,
        "GetItem" if keys == 1 else "BatchGetItem",
        _NOTHING if condition else Cost(operations, keys, times * keys * contract.expected_units),
        Cost(operations, keys, times * keys * contract.maximum_units),
        condition,
    )
