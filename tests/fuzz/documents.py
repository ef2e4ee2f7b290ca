"""Valid documents made at random from the schema: the same seed makes the same document.

Arguments mostly name something that exists; which values they take is the vocabulary of the test.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    Undefined,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_required_input_field,
)

from resolvers.schema import bound_schema

SCHEMA = bound_schema().graphql_schema
_PAGING = ("first", "after", "last", "before")
_ROOT_FIELDS = 3
_FIELDS = 80
_ALIASES = 12
_DEPTH = 9
_ODD = 0.12
_ABSENT = object()
_STRINGS = re.compile(r'"(?:\\.|[^"\\])*"')
_IN_PARENTHESES = re.compile(r"\([^)]*\)")
_BRACES = re.compile(r"([{}])|\.\.\.(F\d+)")


class Values(NamedTuple):
    """The values of an argument: those that fit, and those that are sent now and then because they do not."""

    fitting: Sequence[Any]
    odd: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names and values from which documents are made.

    `values` are by the input type and name of a field, such as `CreateOwnerInput.ownerId`, or by the type and name of
    an argument or field, such as `Date from`, or by its name, or by its type. `root_fields` are those that queries and
    mutations begin with, each as often as it is listed. `cursors` are by list, such as `Owner.lockers`, and the id of
    the object whose list it is.
    """

    values: Mapping[str, Values]
    root_fields: Mapping[str, Sequence[str]]
    cursors: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)


class Document(NamedTuple):
    seed: int
    text: str
    variables: dict[str, Any]


def make_document(
    seed: int, vocabulary: Vocabulary, *, operation: str = "query", root_fields: Sequence[str] = ()
) -> Document:
    """The document of a seed.

    Args:
        seed: the seed.
        vocabulary: what it can say.
        operation: `query` or `mutation`.
        root_fields: the fields that it begins with; at random if left out.
    """
    return _Maker(seed, vocabulary, operation).made(root_fields)


class _Fragment(NamedTuple):
    name: str
    type_name: str
    levels: int
    fields: int


class _Maker:
    """Makes one document.

    The arguments of a field are decided once for each type and response key, so that no two selections of one response
    key contradict each other.
    """

    def __init__(self, seed: int, vocabulary: Vocabulary, operation: str) -> None:
        self._seed = seed
        self._vocabulary = vocabulary
        self._operation = operation
        self._random = Random(f"{operation} {seed}")
        self._depth = self._random.randint(4, _DEPTH)
        self._fields_left = self._random.choice((15, 35, _FIELDS))
        self._aliases = 0
        self._arguments: dict[tuple[str, str], str] = {}
        self._hints: dict[tuple[str, str], str] = {}
        self._shapes: dict[tuple[str, str], dict[str, str]] = {}
        self._fragments: list[_Fragment] = []
        self._definitions: list[str] = []
        self._declared: list[str] = []
        self._variables: dict[str, Any] = {}
        self._reusable: list[tuple[str, str, str]] = []
        self._uses_variables = self._chance(0.6)
        self._uses_directives = self._chance(0.5)
        self._uses_fragments = self._chance(0.6)

    def made(self, root_fields: Sequence[str]) -> Document:
        type_ = SCHEMA.query_type if self._operation == "query" else SCHEMA.mutation_type
        assert type_ is not None
        names = list(root_fields)
        if not names:
            count = self._random.randint(1, _ROOT_FIELDS)
            names = self._random.choices(self._vocabulary.root_fields[self._operation], k=count)
        parts = [self._field(type_, name, 1, "", None, never_skip=bool(root_fields)) for name in names]
        if self._chance(0.1):
            parts.append("__typename")
        parts = self._grouped(type_, parts)
        declared = f" ({', '.join(self._declared)})" if self._declared else ""
        text = "\n".join([f"{self._operation}{declared} {{ {' '.join(parts)} }}", *self._definitions])
        return Document(self._seed, text, self._variables)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _selection(self, type_: Any, depth: int, hint: str, shape: dict[str, str] | None) -> str:
        """The selection set of objects of one type. In `shape` are the types of keys that other types share."""
        if isinstance(type_, GraphQLInterfaceType):
            return self._abstract_selection(type_, depth, {} if shape is None else shape)
        return f"{{ {' '.join(self._object_parts(type_, depth, hint, shape))} }}"

    def _abstract_selection(self, type_: GraphQLInterfaceType, depth: int, shape: dict[str, str]) -> str:
        parts = ["__typename"] if self._chance(0.7) else []
        common = sorted(type_.fields)
        chosen = self._random.sample(common, self._random.randint(0, len(common)))
        parts += [f"{name}{self._directive()}" for name in chosen if _fits(shape, name, type_)]
        objects = sorted(SCHEMA.get_possible_types(type_), key=lambda possible: possible.name)
        for possible in self._random.sample(objects, self._random.randint(2, len(objects))):
            if self._fields_left > 0:
                inside = self._object_parts(possible, depth, "", shape)
                parts.append(self._fragment(possible.name, inside, within=type_.name))
        return f"{{ {' '.join(parts or ['__typename'])} }}"

    def _object_parts(self, type_: GraphQLObjectType, depth: int, hint: str, shape: dict[str, str] | None) -> list[str]:
        names = self._chosen(type_, depth)
        if shape is not None:
            names = [name for name in names if _fits(shape, name, type_)]
        parts = [part for name in names for part in self._repeated(type_, name, depth, hint, shape)]
        if self._chance(0.15):
            parts.append("__typename")
        if shape is None and self._uses_fragments:
            parts += self._spread_again(type_, depth)
        return self._grouped(type_, parts or ["__typename"])

    def _chosen(self, type_: GraphQLObjectType, depth: int) -> list[str]:
        leaves = [name for name, of in type_.fields.items() if is_leaf_type(get_named_type(of.type))]
        objects = [name for name in type_.fields if name not in leaves]
        if depth >= self._depth or self._fields_left <= 0:
            wanted = 0
        elif type_.name.endswith(("Connection", "Edge", "Payload")):
            wanted = self._random.randint(1, 3)
        else:
            wanted = self._random.choices((0, 1, 2, 3), (depth, 6, 4, 1))[0]
        names = self._random.sample(objects, min(wanted, len(objects)))
        few = min(len(leaves), self._random.randint(0 if names else 1, 4))
        names += self._random.sample(leaves, few)
        self._random.shuffle(names)
        return names

    def _repeated(
        self, type_: GraphQLObjectType, name: str, depth: int, hint: str, shape: dict[str, str] | None
    ) -> Iterator[str]:
        """A field, now and then twice: then it is merged from two selections."""
        if not is_leaf_type(get_named_type(type_.fields[name].type)) and depth >= self._depth:
            return
        yield self._field(type_, name, depth, hint, shape)
        if self._chance(0.08):
            yield self._field(type_, name, depth, hint, shape)

    def _field(
        self,
        type_: GraphQLObjectType,
        name: str,
        depth: int,
        hint: str,
        shape: dict[str, str] | None,
        *,
        never_skip: bool = False,
    ) -> str:
        definition: GraphQLField = type_.fields[name]
        self._fields_left -= 1
        key, alias = name, ""
        if self._aliases < _ALIASES and shape is None and self._chance(0.12):
            self._aliases += 1
            key = f"a{self._random.randint(1, 9)}{type_.name}{name}"
            alias = f"{key}: "
        if (type_.name, key) not in self._arguments:
            self._arguments[type_.name, key] = self._argument_list(type_, name, key, definition, hint)
        written = f"{alias}{name}{self._arguments[type_.name, key]}{'' if never_skip else self._directive()}"
        below = get_named_type(definition.type)
        if is_leaf_type(below):
            return written
        inner = self._shapes.setdefault((type_.name, key), {}) if is_abstract_type(below) else None
        return f"{written} {self._selection(below, depth + 1, self._hints.get((type_.name, key), ''), inner)}"

    def _argument_list(self, type_: GraphQLObjectType, name: str, key: str, definition: GraphQLField, hint: str) -> str:
        given = []
        for argument, of in definition.args.items():
            if argument in _PAGING:
                continue
            if (isinstance(of.type, GraphQLNonNull) and of.default_value is Undefined) or self._chance(0.3):
                written, value = self._argument(argument, of.type, has_default=_has_default(of))
                given.append(f"{argument}: {written}")
                if isinstance(value, str) and argument.endswith("Id"):
                    self._hints[type_.name, key] = value
        if "after" in definition.args:
            given += self._paging(f"{type_.name}.{name}", hint)
        self._random.shuffle(given)
        return f"({', '.join(given)})" if given else ""

    def _paging(self, connection: str, hint: str) -> list[str]:
        kinds: list[tuple[str, ...]] = [(), ("first",), ("first", "after"), ("after",), ("last",), ("last", "before")]
        if self._chance(_ODD / 2):
            names: Sequence[str] = self._random.sample(_PAGING, self._random.randint(2, 4))
        else:
            names = self._random.choices(kinds, (6, 8, 4, 1, 2, 1))[0]
        if (connection, hint) not in self._vocabulary.cursors and self._chance(0.75):
            names = [name for name in names if name in {"first", "last"}]  # no cursor would be one of this list
        return [f"{name}: {self._page_argument(name, connection, hint)}" for name in names]

    def _page_argument(self, name: str, connection: str, hint: str) -> str:
        type_ = SCHEMA.type_map["Int" if name in {"first", "last"} else "String"]
        if name in {"after", "before"}:
            own = self._vocabulary.cursors.get((connection, hint))
            if own and self._chance(0.85):
                return self._written(name, type_, self._random.choice(own), has_default=False)
        return self._argument(name, type_, has_default=False)[0]

    def _argument(self, name: str, type_: Any, *, has_default: bool) -> tuple[str, Any]:
        """An argument as it is written, and its value where that is plain."""
        inner = type_.of_type if isinstance(type_, GraphQLNonNull) else type_
        if isinstance(inner, GraphQLInputObjectType) and not (self._uses_variables and self._chance(0.3)):
            fields = [
                f"{field}: {self._argument(f'{inner.name}.{field}', of.type, has_default=_has_default(of))[0]}"
                for field, of in inner.fields.items()
                if is_required_input_field(of) or self._chance(0.35)
            ]
            return f"{{{', '.join(fields)}}}", None
        value = self._value(name, type_)
        return self._written(name, type_, value, has_default=has_default), value

    def _written(self, name: str, type_: Any, value: Any, *, has_default: bool) -> str:
        """A value inside the document, or a variable that holds it."""
        if not (self._uses_variables and self._chance(0.5)):
            return _literal(type_, value)
        for variable, of_name, of_type in self._reusable:
            if of_name == name and of_type == str(type_) and self._chance(0.3):
                return variable
        return self._variable(name, type_, value, has_default=has_default)

    def _variable(self, name: str, type_: Any, value: Any, *, has_default: bool) -> str:
        variable = f"v{len(self._declared) + 1}"
        is_required = isinstance(type_, GraphQLNonNull)
        nullable = type_.of_type if is_required else type_
        ways = ["given"] * 12 + ["default", "default and given"]
        ways += ["required"] if value is not None else []
        ways += ["absent"] if has_default or not is_required else []
        ways += [] if is_required else ["null"]
        way = "wrong" if self._chance(0.004) else self._random.choice(ways)
        declared, given = str(type_), value
        match way:
            case "default":
                declared, given = f"{nullable} = {_literal(nullable, value)}", _ABSENT
            case "default and given":
                declared = f"{nullable} = {_literal(nullable, self._value(name, type_))}"
                given = None if self._chance(0.15) else value
            case "required":
                declared = f"{nullable}!"
            case "absent":
                declared, given = str(nullable), _ABSENT
            case "null":
                given = None
            case "wrong":
                given = ["not", {"of": "this type"}]
            case _:
                self._reusable.append((f"${variable}", name, str(type_)))
        self._declared.append(f"${variable}: {declared}")
        if given is not _ABSENT:
            self._variables[variable] = given
        return f"${variable}"

    def _value(self, name: str, type_: Any) -> Any:
        if isinstance(type_, GraphQLNonNull):
            type_ = type_.of_type
        elif self._chance(0.05):
            return None
        if isinstance(type_, GraphQLList):
            return [self._value(name, type_.of_type) for _ in range(self._random.choice((0, 1, 1, 2, 3, 5)))]
        if isinstance(type_, GraphQLEnumType):
            return self._random.choice(sorted(type_.values))
        if isinstance(type_, GraphQLInputObjectType):
            return {
                field: self._value(f"{type_.name}.{field}", of.type)
                for field, of in type_.fields.items()
                if is_required_input_field(of) or self._chance(0.35)
            }
        if type_.name == "Boolean":
            return self._chance(0.5)
        values = self._vocabulary.values
        short = name.rpartition(".")[2]
        known = (values.get(key) for key in (name, f"{type_.name} {short}", short, type_.name))
        fitting, odd = next(found for found in known if found is not None)
        return self._random.choice(odd if odd and self._chance(_ODD) else fitting)

    def _directive(self) -> str:
        if not self._uses_directives or not self._chance(0.12):
            return ""
        written = self._random.choice(("true", "false", "$"))
        if written == "$":
            written = self._condition()
        return f" @{self._random.choice(('skip', 'include'))}(if: {written})"

    def _condition(self) -> str:
        known = [variable for variable, name, _ in self._reusable if name == "if"]
        if known and self._chance(0.5):
            return self._random.choice(known)
        variable = f"v{len(self._declared) + 1}"
        if self._chance(0.3):
            self._declared.append(f"${variable}: Boolean = {self._random.choice(('true', 'false'))}")
            if self._chance(0.2):
                self._variables[variable] = None
        else:
            self._declared.append(f"${variable}: Boolean!")
            self._variables[variable] = self._chance(0.5)
        self._reusable.append((f"${variable}", "if", "Boolean!"))
        return f"${variable}"

    def _grouped(self, type_: GraphQLObjectType, parts: list[str]) -> list[str]:
        """Some of the selections inside a fragment, now and then inside two."""
        if not self._uses_fragments or not self._chance(0.25):
            return parts
        cut = self._random.randint(0, len(parts) - 1)
        inside, rest = parts[cut:], parts[:cut]
        if self._chance(0.2):
            inside = [self._fragment(type_.name, inside, within=type_.name)]
        interfaces = [of.name for of in type_.interfaces if all(part in of.fields for part in inside)]
        rest.append(self._fragment(self._random.choice([type_.name, *interfaces]), inside, within=type_.name))
        return rest

    def _fragment(self, type_name: str, inside: list[str], within: str) -> str:
        """Selections as a fragment: in place, or defined below the operation."""
        text = " ".join(inside)
        if not self._uses_fragments or self._chance(0.5):
            condition = "" if type_name == within and self._chance(0.2) else f" on {type_name}"
            return f"...{condition}{self._directive()} {{ {text} }}"
        name = f"F{len(self._fragments) + 1}"
        self._fragments.append(_Fragment(name, type_name, self._levels(text), text.count(" ")))
        self._definitions.append(f"fragment {name} on {type_name} {{ {text} }}")
        return f"...{name}{self._directive()}"

    def _levels(self, text: str) -> int:
        """How deep selections are at most, with their fragments."""
        levels = deepest = 1
        for brace, name in _BRACES.findall(_IN_PARENTHESES.sub("", _STRINGS.sub("", text))):
            levels += {"{": 1, "}": -1}.get(brace, 0)
            spread = next((fragment.levels for fragment in self._fragments if fragment.name == name), 0)
            deepest = max(deepest, levels + spread)
        return deepest

    def _spread_again(self, type_: GraphQLObjectType, depth: int) -> Iterator[str]:
        """A fragment that was written for this type before."""
        for fragment in self._fragments:
            fits = fragment.type_name == type_.name and depth + fragment.levels <= _DEPTH
            if fits and fragment.fields <= self._fields_left and self._chance(0.4):
                self._fields_left -= fragment.fields
                yield f"...{fragment.name}{self._directive()}"


def _fits(shape: dict[str, str], name: str, type_: GraphQLObjectType | GraphQLInterfaceType) -> bool:
    """Whether no other type has a field of another type with this response key."""
    of = str(type_.fields[name].type)
    return shape.setdefault(name, of) == of


def _has_default(of: Any) -> bool:
    return of.default_value is not Undefined or not isinstance(of.type, GraphQLNonNull)


def _literal(type_: Any, value: Any) -> str:
    if isinstance(type_, GraphQLNonNull):
        type_ = type_.of_type
    match value:
        case None:
            return "null"
        case list():
            inner = type_.of_type if isinstance(type_, GraphQLList) else type_
            return f"[{', '.join(_literal(inner, item) for item in value)}]"
        case dict():
            fields = type_.fields if isinstance(type_, GraphQLInputObjectType) else {}
            entries = (
                f"{name}: {_literal(fields[name].type if fields else type_, item)}" for name, item in value.items()
            )
            return f"{{{', '.join(entries)}}}"
        case _ if isinstance(type_, GraphQLEnumType):
            return str(value)
        case _:
            return json.dumps(value)
