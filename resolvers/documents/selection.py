"""The fields that a document selects at one place of the response: the one walker of selections and fragments."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    visit,
)


class SelectionPart(NamedTuple):
    """A selection set, and the fragments that lead to it."""

    selections: SelectionSetNode
    within: frozenset[str] = frozenset()


class Selected(NamedTuple):
    """A selected field, and the fragments that lead to it."""

    node: FieldNode
    within: frozenset[str]


class Selection(NamedTuple):
    """The fields of one place by response key, in document order, and how much was walked to find them."""

    fields: dict[str, list[Selected]]
    selections: int
    spreads: int


def _everything(_: Any) -> bool:
    return True


class Walker:
    """Walks the selections of a document, of those with directives only what `includes` accepts.

    With `once`, a fragment that is spread several times at one place counts once, as when it is executed.
    """

    def __init__(
        self, document: DocumentNode, includes: Callable[[SelectionNode], bool] = _everything, *, once: bool = False
    ) -> None:
        self.fragments: Mapping[str, FragmentDefinitionNode] = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.used: set[str] = set()
        self._includes = includes
        self._once = once

    def select(
        self, parts: Iterable[SelectionPart], applies: Callable[[str], bool] = _everything, limit: int | None = None
    ) -> Selection:
        """Collects the fields of these parts, in fragments whose type condition applies.

        A fragment inside itself is not followed, so a circle ends. With a `limit` it stops soon after that many
        selections: the caller refuses such a document.
        """
        fields: dict[str, list[Selected]] = {}
        spread: set[str] = set()
        selections = spreads = 0
        reverse = list(parts)[::-1]
        stack = [iter(part.selections.selections) for part in reverse]
        within = [part.within for part in reverse]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                within.pop()
                continue
            selections += 1
            if limit is not None and selections > limit:
                break
            if node.directives and not self._includes(node):
                continue
            if isinstance(node, FieldNode):
                fields.setdefault((node.alias or node.name).value, []).append(Selected(node, within[-1]))
                continue
            inside = within[-1]
            if isinstance(node, InlineFragmentNode):
                fragment: Any = node
            else:
                spreads += 1
                name = node.name.value  # type: ignore[attr-defined]
                fragment = self.fragments.get(name)
                if fragment is None or name in inside or (self._once and name in spread):
                    continue
                spread.add(name)
                self.used.add(name)
                inside |= {name}
            condition = fragment.type_condition
            if condition is None or applies(condition.name.value):
                stack.append(iter(fragment.selection_set.selections))
                within.append(inside)
        return Selection(fields, selections, spreads)


def parts_of(selected: Iterable[Selected]) -> list[SelectionPart]:
    return [SelectionPart(node.selection_set, within) for node, within in selected if node.selection_set is not None]


def is_included(node: SelectionNode, variables: Mapping[str, Any]) -> bool:
    """Whether no `@skip` or `@include` leaves a selection out; raises a GraphQLError where its variable is null."""
    directives = {directive.name.value: directive for directive in node.directives or ()}
    if "skip" in directives and _condition(directives["skip"], variables):
        return False
    return "include" not in directives or _condition(directives["include"], variables)


def written_selections(document: DocumentNode) -> Iterator[SelectionNode]:
    """Every selection where it is written, each once."""
    left: list[SelectionSetNode] = [
        node.selection_set
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode)
    ]
    while left:
        for selection in left.pop().selections:
            yield selection
            below: SelectionSetNode | None = getattr(selection, "selection_set", None)
            if below is not None:
                left.append(below)


def directive_variables(document: DocumentNode) -> set[str]:
    return {
        argument.value.name.value
        for selection in written_selections(document)
        for directive in selection.directives or ()
        if directive.name.value in {"skip", "include"}
        for argument in directive.arguments or ()
        if isinstance(argument.value, VariableNode)
    }


def variable_uses(document: DocumentNode) -> Counter[str]:
    """How often the document uses each variable, beside where it is declared."""
    uses: Counter[str] = Counter()

    class Uses(Visitor):
        def enter_variable(self, node: VariableNode, _key: Any, parent: Any, *_: Any) -> None:
            if not isinstance(parent, VariableDefinitionNode):
                uses[node.name.value] += 1

    visit(document, Uses())
    return uses


def _condition(directive: DirectiveNode, variables: Mapping[str, Any]) -> bool:
    (argument,) = directive.arguments or ()
    value: Any = argument.value
    if not isinstance(value, VariableNode):
        return bool(value.value)
    condition = variables.get(value.name.value)
    if condition is None:
        raise GraphQLError(
            f"Argument 'if' has invalid value: Expected variable '${value.name.value}' provided to non-null type "
            "'Boolean!' not to be None.",
            value,
        )
    return bool(condition)
