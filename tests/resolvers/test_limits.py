import gc
from itertools import product

import pytest
from graphql import GraphQLError, get_introspection_query
from graphql.language import Token

from domain.errors import QueryTooComplexError
from resolvers.documents.cache import DocumentCache, InvalidDocumentError
from resolvers.limits import DEFAULT_LIMITS
from resolvers.schema import bound_schema
from tests.api import Api
from tests.conftest import OpenApi
from tests.wire import Wire

DEEP = """{ owner(ownerId: "a") { lockers { nodes { owner { lockers { nodes { owner { lockers { nodes {
  %s } } } } } } } } } }"""


def aliases(count: int) -> str:
    return "{ " + " ".join(f"a{number}: __typename" for number in range(count)) + " }"


def directives(count: int) -> str:
    return "{ __typename " + "@include(if: true) " * count + "}"


def roots(count: int) -> str:
    return "{ ...F } fragment F on Query { ... { " + "__typename " * count + "} }"


def nested_repeats(outer: int, inner: int) -> str:
    return '{ owner(ownerId: "a") { ' + ("lockers { " + "nodes { id } " * inner + "} ") * outer + "} }"


def fragments(count: int, fields: str) -> str:
    """As a compiler writes them: each component has one of its own, whatever the others select."""
    spreads = " ".join(f"...F{number}" for number in range(count))
    return f'{{ owner(ownerId: "a") {{ {spreads} }} }} ' + " ".join(
        f"fragment F{number} on Owner {{ {fields} }}" for number in range(count)
    )


def doubling(count: int) -> str:
    """Each fragment spreads the next twice, at places of their own."""
    return (
        "{ ...F0 } "
        + " ".join(
            f"fragment F{number} on Query {{ ...F{number + 1} ...F{number + 1} __typename }}" for number in range(count)
        )
        + f" fragment F{count} on Query {{ __typename }}"
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{ " + "__typename " * 1000 + "}", "Document contains more than 1000 tokens."),
        ("#\n" * 1001 + "{ __typename }", "Document contains more than 1000 comments."),
        ("{ __typename }" + " " * 32755, "The document has 32,769 characters, and the limit is 32,768."),
        (
            f"{{ locations(first: {'1' * 401}) {{ nextCursor }} }}",
            "The document has 401 characters in one number, and the limit is 400.",
        ),
        (
            f"query ($a: Float = -1.{'0' * 400}e5) {{ __typename }}",
            "The document has 405 characters in one number, and the limit is 400.",
        ),
        ("{" + "a {" * 250 + "a" + "}" * 251, "Document is nested too deeply."),
        (DEEP % "owner { name }", "The document has 11 levels of fields, and the limit is 10."),
        (aliases(16), "The document has 16 aliases, and the limit is 15."),
        (directives(51), "The document has 51 directives, and the limit is 50."),
        (roots(11), "The document has 11 root fields, and the limit is 10."),
        (
            '{ owner(ownerId: "a") { ' + "name ... { name } " * 45 + "} }",
            "The document has 4,005 pairs of fields or fragments at one place of the response, and the limit is 4,000.",
        ),
        (
            nested_repeats(9, 10),
            "The document has 4,041 pairs of fields or fragments at one place of the response, and the limit is 4,000.",
        ),
        (
            fragments(64, "name"),
            "The document has 4,032 pairs of fields or fragments at one place of the response, and the limit is 4,000.",
        ),
        (
            doubling(10),
            "The document has 2,501 selections with its fragments written out, and the limit is 2,500.",
        ),
        (
            '{ __schema { types { name } } a: __schema { types { name } } __type(name: "ID") { name } }',
            "The document has 3 introspections, and the limit is 2.",
        ),
        (
            "{ __schema { types { fields { type {" + " ofType {" * 12 + " name " + "}" * 16 + " }",
            "The document has 16 levels of introspection, and the limit is 15.",
        ),
        (
            "{ __schema { types { fields { a: name } } } }",
            "The document has 1 aliases in introspection, and the limit is 0.",
        ),
        (
            "{ __schema { types { ...T } } } fragment T on __Type { fields { type { fields { name } } } }",
            "The document has 2 introspected 'fields', and the limit is 1.",
        ),
        (
            "{ __schema { types { fields { type { interfaces { possibleTypes { name } } } } } } }",
            "The document has 4 nested lists of introspection, and the limit is 3.",
        ),
    ],
    ids=["tokens", "comments", "characters", "integer", "fraction", "nesting", "depth", "aliases", "directives",
         "roots", "repeats", "nested repeats", "spreads", "fragments in fragments", "introspections",
         "introspected depth", "introspected aliases", "introspected twice", "introspected lists"],
)  # fmt: skip
@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
async def test_a_document_above_a_limit_is_refused_and_nothing_runs(
    api: Api, wire: Wire, document: str, message: str, accept: str
) -> None:
    response = await api.client.post("/graphql", json={"query": document}, headers={"Accept": accept})
    (error,) = response.json()["errors"]
    assert error["message"] == message
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("QUERY_TOO_COMPLEX", 400)
    assert response.status_code == (200 if accept == "application/json" else 400)
    assert "data" not in response.json()
    assert not wire.calls


@pytest.mark.parametrize(
    "document",
    [
        "{ " + "__typename " * 10 + "#\n" * 1000 + "}",
        "{ __typename }" + " " * 32754,
        f"{{ node(id: {'1' * 400}) {{ id }} }}",
        f'{{ node(id: "{"1" * 5000}") {{ id }} }}',
        DEEP % "alias",
        '{ owner(ownerId: "a") { ' + " ".join(f"a{number}: name" for number in range(15)) + " } }",
        "{ " + "... @include(if: true) { " * 49 + "__typename @skip(if: false) " + "} " * 50,
        roots(10),
        '{ owner(ownerId: "a") { ' + "name ... { name } " * 44 + "} }",
        nested_repeats(6, 10),
        fragments(30, "id name lockers { nodes { id alias } }"),
        fragments(30, "id").replace("} }", "ownerByEmail: lockers { nodes { owner { ...F0 ...F1 ...F2 } } } } }", 1),
        get_introspection_query(),
        get_introspection_query(
            specified_by_url=True,
            directive_is_repeatable=True,
            schema_description=True,
            input_value_deprecation=True,
            one_of=True,
        ),
        "{ __schema { queryType { fields { name } } mutationType { fields { name } } } }",
        "{ __schema { queryType { fields { name args { name } } } mutationType { fields { name args { name } } } } }",
        '{ __schema { queryType { name } } __type(name: "Owner") { fields { name type { name ofType { name } } } } }',
    ],
)
async def test_a_document_at_its_limits_runs(api: Api, document: str) -> None:
    answer = await api.send(document)
    assert "data" in answer, answer


async def test_aliases_count_wherever_they_stand(open_api: OpenApi) -> None:
    document = '{ a: owner(ownerId: "a") { b: name ...F ... { c: name } } } fragment F on Owner { d: name }'
    async with open_api(max_aliases=4) as api:
        assert "data" in await api.send(document)
    async with open_api(max_aliases=3) as api:
        (error,) = (await api.send(document))["errors"]
        assert error["message"] == "The document has 4 aliases, and the limit is 3."


async def test_directives_count_wherever_they_stand(open_api: OpenApi) -> None:
    document = (
        """query ($v: Boolean! @a) @a { ...F @a ... @a { __typename @a } } fragment F on Query @a { __typename @a }"""
    )
    async with open_api(max_directives=6) as api:
        (error,) = (await api.send(document))["errors"]
        assert error["message"] == "The document has 7 directives, and the limit is 6."


async def test_every_limit_can_be_set(open_api: OpenApi) -> None:
    for setting, document in (
        ("max_tokens", "{ __typename __typename __typename }"),
        ("max_depth", '{ owner(ownerId: "a") { lockers { nodes { owner { name } } } } }'),
        ("max_directives", directives(4)),
        ("max_root_fields", "{ " + "__typename " * 4 + "}"),
    ):
        async with open_api(**{setting: 3}) as api:
            (error,) = (await api.send(document))["errors"]
            assert error["extensions"]["code"] == "QUERY_TOO_COMPLEX", setting
    async with open_api(max_tokens=2000, max_aliases=100, max_root_fields=100) as api:
        assert len(await api.run(aliases(100))) == 100


@pytest.fixture
def cache() -> DocumentCache:
    return DocumentCache(bound_schema(), DEFAULT_LIMITS, hides_suggestions=False)


def test_a_valid_document_is_compiled_once_and_others_are_not_kept(cache: DocumentCache) -> None:
    for document in ("{", "{ unknown }", aliases(16)):
        for _ in range(2):
            with pytest.raises((GraphQLError, InvalidDocumentError, QueryTooComplexError)):
                cache.get(document)
    assert cache.get("{ __typename }") is cache.get("{ __typename }")


def test_the_documents_used_last_are_kept(cache: DocumentCache) -> None:
    texts = [f"{{ a{number}: __typename }}" for number in range(300)]
    first = cache.get(texts[0])
    found = [first]
    for text in texts[1:]:
        found.append(cache.get(text))
        assert cache.get(texts[0]) is first
    assert [cache.get(texts[number]) is found[number] for number in (299, 45, 44)] == [True, True, False]


def test_an_operation_has_one_tree_for_each_setting_of_its_directives_and_keeps_a_few(cache: DocumentCache) -> None:
    names = [f"v{number}" for number in range(5)]
    definitions = ", ".join(f"${name}: Boolean! = true" for name in names)
    fields = " ".join(f"{name}: __typename @include(if: ${name})" for name in names)
    document = cache.get(f"query ($first: Int, {definitions}) {{ {fields} locations(first: $first) {{ nextCursor }} }}")
    (operation,) = document.operations
    given = dict.fromkeys(names, True)
    tree = operation.tree(given)
    assert operation.tree(given | {"first": 7}) is tree
    assert operation.tree(given | {"v0": False}).keys == [*names[1:], "locations"]
    settings = [dict(zip(names, values, strict=True)) for values in product((True, False), repeat=5)]
    trees = [operation.tree(setting) for setting in settings]
    assert operation.tree(settings[-1]) is trees[-1]
    assert operation.tree(settings[0]) is not trees[0]


def test_a_document_that_is_dropped_leaves_nothing_to_the_garbage_collector(cache: DocumentCache) -> None:
    def tokens_in_memory() -> int:
        return sum(isinstance(thing, Token) for thing in gc.get_objects())

    for number in range(300):
        cache.get(f"query D{number:04d} {{ __typename }}")
    gc.collect()
    gc.disable()
    try:
        kept = tokens_in_memory()
        cache.get("query D0300 { __typename }")
        assert tokens_in_memory() == kept
    finally:
        gc.enable()
