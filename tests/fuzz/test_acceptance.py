"""No document is accepted without validation that graphql-core finds invalid. `make acceptance` tries 100,000."""

import os
from itertools import islice
from random import Random

import pytest
from graphql import DocumentNode, GraphQLSyntaxError, parse, validate

from domain.errors import QueryTooComplexError
from resolvers.documents.acceptance import is_certainly_valid
from resolvers.documents.parsing import parse_within
from resolvers.documents.rules import RULES
from resolvers.limits import DEFAULT_LIMITS
from resolvers.schema import bound_schema
from tests.equivalence.vocabulary import vocabulary
from tests.fuzz.documents import make_document
from tests.fuzz.mutants import mutants

DOCUMENTS = int(os.environ.get("ACCEPTANCE_DOCUMENTS", "2000"))
PARTS = 2
MUTANTS = 20
"""Of each document."""
VOCABULARY = vocabulary({("Owner.lockers", "nina"): ["cursor"]})
BOUND = bound_schema()
LOCKER = 'locker(lockerId: "x")'
BROKEN = {
    "ExecutableDefinitionsRule": "{ __typename } scalar X",
    "UniqueOperationNamesRule": "query A { __typename } query A { __typename }",
    "LoneAnonymousOperationRule": "{ __typename } query A { __typename }",
    "KnownTypeNamesRule": "{ ... on Unknown { __typename } }",
    "FragmentsOnCompositeTypesRule": "{ ... on String { __typename } }",
    "VariablesAreInputTypesRule": f"query ($v: Locker) {{ {LOCKER} @skip(if: $v) {{ id }} }}",
    "ScalarLeafsRule": f"{{ {LOCKER} }}",
    "FieldsOnCorrectTypeRule": "{ unknown }",
    "UniqueFragmentNamesRule": "{ ...F } fragment F on Query { __typename } fragment F on Query { __typename }",
    "KnownFragmentNamesRule": "{ ...F }",
    "NoUnusedFragmentsRule": "{ __typename } fragment F on Query { __typename }",
    "PossibleFragmentSpreadsRule": "{ ... on Locker { id } }",
    "NoFragmentCyclesRule": f"{{ {LOCKER} {{ ...F }} }} fragment F on Locker {{ latestEvent {{ locker {{ ...F }} }} }}",
    "UniqueVariableNamesRule": "query ($v: Int, $v: Int) { pendingBookings(first: $v) { nextCursor } }",
    "NoUndefinedVariablesRule": "{ ...F } fragment F on Query { locker(lockerId: $v) { id } }",
    "NoUnusedVariablesRule": "query ($v: Int) { __typename }",
    "KnownDirectivesRule": "{ __typename @unknown }",
    "UniqueDirectivesPerLocationRule": "{ __typename @skip(if: true) @skip(if: true) }",
    "DeferStreamDirectiveOnRootField": "mutation { ... @defer { __typename } }",
    "DeferStreamDirectiveOnValidOperationsRule": "subscription { a { ... @defer { b } } }",
    "DeferStreamDirectiveLabel": "{ ... @defer(label: 1) { __typename } }",
    "StreamDirectiveOnListField": "{ viewer @stream(initialCount: 0) { subject } }",
    "KnownArgumentNamesRule": "{ viewer(unknown: 1) { subject } }",
    "UniqueArgumentNamesRule": '{ locker(lockerId: "x", lockerId: "x") { id } }',
    "_ValuesRule": "{ pendingBookings(first: true) { nextCursor } }",
    "ProvidedRequiredArgumentsRule": "{ locker { id } }",
    "VariablesInAllowedPositionRule": "query ($v: ID) { locker(lockerId: $v) { id } }",
    "OverlappingFieldsCanBeMergedRule": f"{{ {LOCKER} {{ id }} {LOCKER} {{ id: alias }} }}",
    "UniqueInputFieldNamesRule": f"{{ {LOCKER} {{ activity(window: {{from: $v, from: $v}}) {{ nextCursor }} }} }}",
    "MaxIntrospectionDepthRule": "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
}
"""A document that breaks each rule."""
OTHER_RULES = {
    *("KnownOperationTypesRule", "SingleFieldSubscriptionsRule"),  # subscriptions are not accepted
    *("MaybeNullValidationRule", "OneOfInputValidationRule"),  # no such type is in the schema
}


@pytest.mark.parametrize("part", range(PARTS))
def test_only_valid_documents_are_accepted(part: int) -> None:
    originals = accepted = documents = 0
    while documents < DOCUMENTS // PARTS:
        random = Random(f"{part} {originals}")
        operation = random.choice(("query", "query", "mutation"))
        text = make_document(random.randrange(10**9), VOCABULARY, operation=operation).text
        if random.random() < 0.5:
            text = text.replace(operation, f"{operation} A", 1)
        originals += 1
        accepted += is_accepted(parse(text))
        for mutant in islice(mutants(random, text), MUTANTS):
            try:
                document = parse_within(mutant, DEFAULT_LIMITS).node
            except (GraphQLSyntaxError, QueryTooComplexError):
                continue
            is_accepted(document)
            documents += 1
    assert accepted > originals * 0.8


def test_a_document_that_breaks_a_rule_is_not_accepted() -> None:
    assert {rule.__name__ for rule in RULES} == {*BROKEN, *OTHER_RULES}
    for rule in RULES:
        if rule.__name__ in BROKEN:
            document = parse(BROKEN[rule.__name__])
            assert validate(BOUND.graphql_schema, document, [rule]), rule
            assert not is_certainly_valid(BOUND, document), rule


def is_accepted(document: DocumentNode) -> bool:
    if not is_certainly_valid(BOUND, document):
        return False
    assert validate(BOUND.graphql_schema, document, RULES) == [], document.loc and document.loc.source.body
    return True
