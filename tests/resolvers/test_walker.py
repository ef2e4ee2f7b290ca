"""The walker of selections: fields by response key in document order, through fragments and directives."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from graphql import OperationDefinitionNode, parse

from resolvers.documents.selection import Part, Walker, directive_variables, is_included, parts_of

if TYPE_CHECKING:
    from resolvers.documents.selection import Selection

POSSIBLE = {"Node": {"Locker", "Owner"}, "Locker": {"Locker"}, "Owner": {"Owner"}}


def select(
    document: str,
    variables: dict[str, bool] | None = None,
    *,
    type_name: str = "Locker",
    once: bool = False,
    limit: int | None = None,
) -> Selection:
    """What the operation selects at its root, as an object of one type."""
    parsed = parse(document)
    walker = Walker(parsed, partial(is_included, variables=variables or {}), once=once)
    return walker.select([Part(operation_of(parsed).selection_set)], lambda name: type_name in POSSIBLE[name], limit)


def operation_of(parsed: Any) -> OperationDefinitionNode:
    return next(node for node in parsed.definitions if isinstance(node, OperationDefinitionNode))


def names(selection: Selection) -> dict[str, list[str]]:
    return {key: [node.name.value for node, _ in found] for key, found in selection.fields.items()}


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ("{ b a }", {"b": ["b"], "a": ["a"]}),
        ("{ a b a }", {"a": ["a", "a"], "b": ["b"]}),
        ("{ x: a x: a a: b }", {"x": ["a", "a"], "a": ["b"]}),
        ("{ a ... { b } c }", {"a": ["a"], "b": ["b"], "c": ["c"]}),
        ("{ ... on Owner { a } ... on Locker { b } }", {"b": ["b"]}),
        ("{ ... on Node { a ... on Owner { b } ... on Locker { c } } }", {"a": ["a"], "c": ["c"]}),
        ("{ a ...F c } fragment F on Node { b ...G } fragment G on Owner { d }", dict.fromkeys("abc")),
        ("{ ...F } fragment F on Node { a ...F }", {"a": ["a"]}),
        ("{ ...F } fragment F on Node { a ...G } fragment G on Node { b ...F }", {"a": ["a"], "b": ["b"]}),
        ("{ a ...Missing }", {"a": ["a"]}),
    ],
)
def test_fields_are_found_by_response_key_in_document_order(document: str, found: dict[str, list[str] | None]) -> None:
    selected = names(select(document))
    assert list(selected) == list(found)
    assert selected == {key: value or [key] for key, value in found.items()}


@pytest.mark.parametrize(
    ("directives", "variables", "is_selected"),
    [
        ("@skip(if: true)", {}, False),
        ("@skip(if: false)", {}, True),
        ("@include(if: true)", {}, True),
        ("@include(if: false)", {}, False),
        ("@skip(if: false) @include(if: false)", {}, False),
        ("@skip(if: true) @include(if: true)", {}, False),
        ("@skip(if: $v)", {"v": True}, False),
        ("@skip(if: $v)", {"v": False}, True),
        ("@include(if: $v)", {"v": True}, True),
        ("@include(if: $v)", {"v": False}, False),
        ("@other", {}, True),
    ],
)
@pytest.mark.parametrize("place", ["{ a b %s }", "{ a ... %s { b } }", "{ a ...F %s } fragment F on Locker { b }"])
def test_directives_decide_on_fields_and_on_fragments(
    place: str, directives: str, variables: dict[str, bool], *, is_selected: bool
) -> None:
    assert ("b" in names(select(place % directives, variables))) is is_selected


def test_a_fragment_spread_twice_at_one_place_counts_once_where_it_is_executed() -> None:
    document = "{ ...F ...F ... { ...F } } fragment F on Locker { a }"
    assert names(select(document, once=True)) == {"a": ["a"]}
    assert names(select(document)) == {"a": ["a", "a", "a"]}


def test_it_counts_what_it_walks_and_stops_at_a_limit() -> None:
    doubling = "{ ...F0 } " + " ".join(f"fragment F{n} on Node {{ ...F{n + 1} ...F{n + 1} }}" for n in range(40))
    document = f"{doubling} fragment F40 on Node {{ a }}"
    assert select(document, limit=1000).selections == 1001
    found = select("{ a ...F ... { b } } fragment F on Node { c }")
    assert (found.selections, found.spreads) == (5, 1)


def test_selections_below_one_key_are_parts_that_remember_their_fragments() -> None:
    parsed = parse("{ a { b } ...F } fragment F on Locker { a { c ...F } }")
    walker = Walker(parsed)
    found = walker.select([Part(operation_of(parsed).selection_set)])
    parts = parts_of(found.fields["a"])
    assert [part.within for part in parts] == [frozenset(), frozenset({"F"})]
    assert list(walker.select(parts).fields) == ["b", "c"]  # the circle ends
    assert walker.used == {"F"}


def test_the_variables_of_directives_are_known() -> None:
    document = """{ a(x: $x) @skip(if: $v) @include(if: true) @other(if: $w) { ...F } }
                  fragment F on Locker { b @skip(if: $u) }"""
    assert directive_variables(parse(document)) == {"u", "v"}
