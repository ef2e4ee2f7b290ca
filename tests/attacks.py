"""Attacks: request bodies by name, generated here because they are large."""

import json
from collections.abc import Iterator
from typing import Any

from graphql import get_introspection_query

OWNER = 'owner(ownerId: "a")'
NODES = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"
EVENT = {"lockerId": "a", "action": "OPEN", "actorId": "a", "result": "SUCCESS"}
HUGE = 200_000
WIDE = 60_000


def attacks() -> dict[str, bytes]:
    """Every attack: what safety asks for by name, and what else comes to mind."""
    documents = {name: _body(text) for name, text in [*_known(), *_large(), *_intricate(), *_odd()]}
    return documents | dict(_bodies()) | dict(_wide())


def large_documents() -> dict[str, bytes]:
    """Documents near the limits that honest clients may send."""
    fields = "id name lockers { nodes { id alias } }"
    return {
        "20 fragments at one place": _body(f"{{ {OWNER} {{ {_spreads(20)} }} }} {_fragments(20, fields)}"),
        "repeats in repeats": _body(f"{{ {OWNER} {{ " + ("lockers { " + "nodes { id } " * 10 + "} ") * 6 + "} }"),
        "44 inline fragments": _body(f"{{ {OWNER} {{ " + "... on Owner { id name } " * 44 + "} }"),
        "introspection of one type": _body('{ __type(name: "Owner") { fields { name args { name } type { name } } } }'),
    }


def wide_requests() -> dict[str, bytes]:
    """Requests with as many values as one may have, so that only the arguments can refuse them as too many."""
    count = 9900
    key = {"name": "a", "role": "PARTNER", "scopes": [], "ownerIds": ["a"] * count}
    return {
        "ids": _body(NODES, variables={"ids": [1] * count}),
        "metadata ten times": _events(10, {"a": [1] * count}),
        "metadata that ends badly ten times": _events(10, {"a": [*[1.5] * 2700, 1e200]}),
        "metadata that is a list ten times": _events(10, [1] * count),
        "owners of a key ten times": _body(
            _repeated("createApiKey", "CreateApiKeyInput", 10), variables={"input": key}
        ),
    }


def _repeated(field: str, kind: str, count: int) -> str:
    fields = " ".join(f"a{number}: {field}(input: $input) {{ userErrors {{ code }} }}" for number in range(count))
    return f"mutation ($input: {kind}!) {{ {fields} }}"


def _events(count: int, metadata: Any) -> bytes:
    document = _repeated("recordAccessEvent", "RecordAccessEventInput", count)
    return _body(document, variables={"input": EVENT | {"metadata": metadata}})


def _spreads(count: int, first: int = 0) -> str:
    return " ".join(f"...F{number}" for number in range(first, count))


def _fragments(count: int, fields: str) -> str:
    return " ".join(f"fragment F{number} on Owner {{ {fields} }}" for number in range(count))


def _known() -> Iterator[tuple[str, str]]:
    yield "1,000 aliases", "{ " + " ".join(f"a{number}: __typename" for number in range(1000)) + " }"
    yield "10,000 repeated fields", "{ " + "__typename " * 10_000 + "}"
    yield "5,000 directives", "{ __typename " + "@include(if: true) " * 5000 + "}"
    yield "600 inline fragments", "{ " + "... { __typename } " * 600 + "}"
    yield "a circle of one fragment", "{ ...A } fragment A on Query { ...A }"
    yield (
        "a circle of three",
        "{ ...A } "
        + " ".join(f"fragment {name} on Query {{ ...{following} }}" for name, following in ("AB", "BC", "CA")),
    )
    yield "as many comments as fit", "#\n" * 85_000 + "{ __typename }"


def _large() -> Iterator[tuple[str, str]]:
    yield "a huge name", "{ " + "a" * HUGE + " }"
    yield "a huge string", '{ node(id: "' + "a" * HUGE + '") { id } }'
    yield "a huge block string", '{ node(id: """' + "a\n" * (HUGE // 3) + '""") { id } }'
    yield "a huge number", "{ node(id: 1" + "0" * HUGE + ") { id } }"
    yield "a huge comment", "#" + "a" * HUGE + "\n{ __typename }"
    yield "a lot of nothing", " " * HUGE + "{ __typename }"
    yield "commas", "," * HUGE + "{ __typename }"
    yield "10,000 variables", "query (" + " ".join(f"$a{number}: ID" for number in range(10_000)) + ") { __typename }"
    yield "1,000 operations", " ".join(f"query q{number} {{ __typename }}" for number in range(1000))
    yield "100 operations and no name", " ".join(f"query q{number} {{ __typename }}" for number in range(100))
    yield "a long list of ids", "{ nodes(ids: [" + '"a" ' * 20_000 + "]) { id } }"

    yield "a number of 4,301 digits", "{ locations(first: 1" + "0" * 4300 + ") { nodes { name } } }"
    yield "a default of 4,301 digits", f"query ($a: Int = {'9' * 4301}) {{ locations(first: $a) {{ nextCursor }} }}"
    yield "a fraction of 5,000 digits", "{ locations(first: 1." + "1" * 5000 + ") { nodes { name } } }"


def _intricate() -> Iterator[tuple[str, str]]:
    yield "900 repeated fields", "{ " + "__typename " * 900 + "}"
    yield "90 repeated fields with children", "{ " + f"{OWNER} {{ name }} " * 90 + "}"
    yield "240 inline fragments", "{ " + "... { __typename } " * 240 + "}"
    yield "16 aliases of one thing", "{ " + " ".join(f"a{number}: {OWNER} {{ name }}" for number in range(16)) + " }"
    yield "deep fields", "{ " + "a { " * 120 + "a " + "} " * 121
    yield "deep entities", f"{{ {OWNER} {{ " + "lockers { nodes { owner { " * 30 + "name " + "} " * 92
    yield "deep lists", "{ nodes(ids: " + "[" * 450 + "]" * 450 + ") { id } }"
    yield "deep objects", "mutation { createOwner(input: " + "{ a: " * 190 + "1" + " }" * 190 + ") { owner { id } } }"
    yield "deep types", "query ($a: " + "[" * 450 + "ID" + "]" * 450 + ") { __typename }"
    yield (
        "exponential fragments",
        "{ ...F0 } "
        + " ".join(
            f"fragment F{number} on Owner {{ lockers {{ nodes {{ owner {{ ...F{number + 1} }} }} }} "
            f"a: lockers {{ nodes {{ owner {{ ...F{number + 1} }} }} }} }}"
            for number in range(24)
        )
        + " fragment F24 on Owner { name }",
    )
    yield (
        "fragments that repeat fields",
        "{ "
        + " ".join(f"...F{number}" for number in range(12))
        + " } "
        + " ".join(f"fragment F{number} on Query {{ {'__typename ' * 60} }}" for number in range(12)),
    )
    yield (
        "every fragment in every other",
        "{ ...F0 } "
        + " ".join(
            f"fragment F{number} on Query {{ " + " ".join(f"...F{other}" for other in range(20)) + " }"
            for number in range(20)
        ),
    )
    yield "20 fields of 10 fields", f"{{ {OWNER} {{ " + ("lockers { " + "nodes { id } " * 10 + "} ") * 20 + "} }"
    yield "fragments that repeat a field", f"{{ {OWNER} {{ {_spreads(25)} }} }} {_fragments(25, 'name ' * 20)}"
    yield (
        "30 fragments with 8 spreads each",
        f"{{ {OWNER} {{ ...F0 }} }} "
        + " ".join(
            f"fragment F{number} on Owner {{ name {_spreads(min(30, number + 9), number + 1)} }}"
            for number in range(30)
        ),
    )
    yield "directives on fragments", "{ " + "... @include(if: true) { __typename } " * 60 + "}"
    yield "directives that nobody knows", "{ __typename " + "@a " * 480 + "}"
    yield "fields that nobody knows", "{ " + " ".join(f"locke{number}" for number in range(10)) + " }"
    yield "fields below that nobody knows", f"{{ {OWNER} {{ " + " ".join(f"nam{n}" for n in range(900)) + " } }"
    yield (
        "fragments that nobody uses",
        "{ __typename } " + " ".join(f"fragment F{number} on Query {{ __typename }}" for number in range(120)),
    )
    yield (
        "aliased introspection",
        "{ " + " ".join(f"a{number}: __schema {{ types {{ fields {{ name }} }} }}" for number in range(10)) + " }",
    )
    yield (
        "introspection with aliases below",
        "{ __schema { types { "
        + " ".join(f"a{number}: fields {{ name type {{ fields {{ name }} }} }}" for number in range(15))
        + " } } }",
    )
    yield "introspection of types of fields", "{ __schema { types { fields { type { fields { name } } } } } }"
    yield "circular introspection", "{ __schema { types { " + "fields { type { " * 6 + "name " + "} } " * 6 + "} } }"
    yield (
        "introspection twice over",
        get_introspection_query()
        + "".join(f" query q{number} {{ __schema {{ description }} }}" for number in range(3)),
    )


def _odd() -> Iterator[tuple[str, str]]:
    yield "NUL", "{ __typename \x00 }"
    yield "a byte-order mark inside a name", "{ __type\ufeffname }"
    yield "look-alike letters", "{ __typen\u0430me }"
    yield "writing turned around", "{ \u202eemanepyt__ }"
    yield "escapes that are no characters", '{ node(id: "\\uD800\\u{110000}") { id } }'
    yield "a schema instead of a query", "type A { a: Int } extend type Query { b: Int }"
    yield "a subscription", "subscription { __typename }"
    yield "numbers that do not end", "{ locations(first: 99999999999999999999999999) { nodes { name } } }"


def _bodies() -> Iterator[tuple[str, bytes]]:
    query = b'{"query": "{ __typename }", '
    yield "variables 100,000 deep", query + b'"variables": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    yield "variables 900 deep", query + b'"variables": {"a": ' + b"[" * 900 + b"]" * 900 + b"}}"
    yield "extensions 100,000 deep", query + b'"extensions": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    yield "brackets that never close", b"[" * 250_000
    yield "200,000 comment tokens", _body("#\n" * 200_000 + "{ __typename }")
    yield "a body of 300 KB", b" " * 300_000
    yield "a batch of 1,000", json.dumps([{"query": "{ __typename }"}] * 1000).encode()
    yield "a number of 200,000 digits", query + b'"variables": {"a": ' + b"1" * 200_000 + b"}}"
    yield "a lone surrogate", b'{"query": "{ __typename \\ud800 }"}'
    yield "bytes that are no UTF-8", b'{"query": "{ \xff\xfe }"}'
    yield "UTF-16", json.dumps({"query": "{ __typename }"}).encode("utf-16")
    yield "a byte-order mark", b"\xef\xbb\xbf" + _body("{ __typename }")
    yield "NaN", query + b'"variables": {"a": NaN}}'
    yield "nothing", b""


def _wide() -> Iterator[tuple[str, bytes]]:
    """As many values as a body can hold."""
    plan = {"explain": "plan"}
    yield "a plan for lists instead of ids", _body(NODES, variables={"ids": [[]] * WIDE}, extensions=plan)
    yield "a plan for some lists instead of ids", _body(NODES, variables={"ids": [[]] * 4900}, extensions=plan)
    yield "lists instead of ids", _body(NODES, variables={"ids": [[]] * WIDE})
    yield "some lists instead of ids", _body(NODES, variables={"ids": [[]] * 4900})
    yield "80,000 ids", _body(NODES, variables={"ids": [1] * 80_000})
    yield "metadata of 80,000 numbers", _events(1, {"a": [1] * 80_000})
    yield "metadata of 80,000 numbers ten times", _events(10, {"a": [1] * 80_000})
    yield (
        "a plan for a number of 4,301 digits",
        _body(f"{{ locations(first: {'9' * 4301}) {{ nextCursor }} }}", extensions=plan),
    )
    several = _repeated("recordAccessEvents", "RecordAccessEventsInput", 1)
    yield "2,900 events", _body(several, variables={"input": {"events": [EVENT] * 2900}})
    yield "1,900 events", _body(several, variables={"input": {"events": [EVENT] * 1900}})
    key = {"name": "a", "role": "PARTNER", "scopes": [], "ownerIds": ["a"] * 50_000}
    yield ("50,000 owners of a key", _body(_repeated("createApiKey", "CreateApiKeyInput", 1), variables={"input": key}))
    event = _repeated("recordAccessEvent", "RecordAccessEventInput", 1)
    for words in ("cannot represent ", "Value '"):  # of messages of graphql-core
        text = words * (HUGE // len(words))
        yield f"an enum value of {words}", _body(event, variables={"input": EVENT | {"action": text}})
        yield f"an unknown field of {words}", _body(event, variables={"input": EVENT | {text: 1}})
    yield "a batch of deep lists", b"[" + b",".join([b"[" * 8 + b"]" * 8] * 15_000) + b"]"
    yield "a variable that nobody uses", _body("{ __typename }", variables={"a": [[[]]] * 40_000})
    yield (
        "a key 25,000 times",
        b'{"query": "{ __typename }", "variables": {' + b",".join([b'"a":[[]]'] * 25_000) + b"}}",
    )
    yield "a text that never ends", b'{"query": "' + b'\\"' * 125_000


def _body(document: str, **more: Any) -> bytes:
    return json.dumps({"query": document, **more}, ensure_ascii=False).encode(errors="surrogatepass")
