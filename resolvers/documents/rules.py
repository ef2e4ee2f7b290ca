"""The rules by which documents are validated."""

from typing import Any

from graphql import (
    SKIP,
    ArgumentNode,
    GraphQLError,
    GraphQLInputType,
    ValueNode,
    ValuesOfCorrectTypeRule,
    VariableDefinitionNode,
    VisitorAction,
    specified_rules,
)
from graphql.pyutils import print_path_list
from graphql.utilities import validate_input_literal
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule


class _ValuesRule(ValuesOfCorrectTypeRule):
    """Names the place of a wrong value as execution does: graphql-core leaves it out of a document's errors."""

    _place = ""

    def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
        self._place = f"Argument '{node.name.value}' has invalid value"

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> None:
        self._place = f"Variable '${node.variable.name.value}' has invalid default value"

    def is_valid_value_node(self, node: ValueNode, input_type: GraphQLInputType | None) -> VisitorAction:
        def on_error(error: GraphQLError, path: list[str | int]) -> None:
            message = f"{self._place}{print_path_list(path)}: {error.message}"
            self.report_error(GraphQLError(message, error.nodes, original_error=error))

        if input_type:
            validate_input_literal(node, input_type, on_error, hide_suggestions=self.context.hide_suggestions)
        return SKIP


RULES = (
    *(_ValuesRule if rule is ValuesOfCorrectTypeRule else rule for rule in specified_rules),
    MaybeNullValidationRule,
    OneOfInputValidationRule,
)
