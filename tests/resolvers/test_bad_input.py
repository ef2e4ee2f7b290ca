"""Ids, names, addresses and enum values that break a rule: refused with their place, before anything is read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from resolvers.schema import build_schema
from tests.api import mutation
from tests.resolvers.test_place_input import IDS, name_of

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

EVENT = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
START, END = "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"
VALID: dict[str, tuple[str, dict[str, Any]]] = {
    "createOwner": ("owner", {"ownerId": "ada", "kind": "USER", "name": "Ada", "email": "ada@example.com"}),
    "updateOwner": ("owner", {"ownerId": "ada", "expectedVersion": 1, "name": "Ada", "email": "ada@example.com"}),
    "registerLocker": ("locker", {"lockerId": "l1", "ownerId": "ada", "alias": "Front"}),
    "renameLocker": ("locker", {"lockerId": "l1", "alias": "Front", "expectedVersion": 1}),
    "updateLockerStatus": ("locker", {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}),
    "transferLocker": ("locker", {"lockerId": "l1", "newOwnerId": "ada", "expectedVersion": 1}),
    "createReservation": (
        "reservation",
        {"lockerId": "l1", "reservationId": "r1", "ownerId": "ada", "startAt": START, "endAt": END},
    ),
    "cancelReservation": ("reservation", {"lockerId": "l1", "reservationId": "r1"}),
    "extendReservation": ("reservation", {"lockerId": "l1", "reservationId": "r1", "newEndAt": END}),
    "recordAccessEvent": ("accessEvent", EVENT),
    "recordAccessEvents": ("accessEvents", {"events": [EVENT]}),
    "createApiKey": ("apiKey", {"keyId": "k1", "name": "Hall 3", "role": "DEVICE", "lockerId": "l1"}),
    "revokeApiKey": ("apiKey", {"keyId": "k1"}),
}
DOCUMENTS = {field: mutation(field, f"{entity} {{ __typename }}") for field, (entity, _) in VALID.items()}
ENTITIES = {field: entity for field, (entity, _) in VALID.items()}

BAD_IDS = ["", "#", "a#b", "a b", " a", "a ", "a\n", "a\t", "é", "a/b", "a.b", "~", "a\u0000", "l" * 65]
ID_RULE = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
ID_FIELDS = [
    (field, name) for field, (_, values) in VALID.items() for name in values if name.endswith(("Id", "OwnerId"))
] + [("recordAccessEvents", name) for name in ("lockerId", "eventId", "actorId")]
TEXT_FIELDS = [("createOwner", "name"), ("updateOwner", "name"), ("registerLocker", "alias"), ("renameLocker", "alias")]
EMAIL_FIELDS = [("createOwner", "email"), ("updateOwner", "email")]
ENUM_FIELDS = [
    ("createOwner", "kind", "OwnerKind"),
    ("updateLockerStatus", "newStatus", "LockerStatus"),
    ("recordAccessEvent", "action", "AccessAction"),
    ("recordAccessEvent", "result", "AccessResult"),
]
QUERIES = {
    "locker": ("query ($value: ID!) { locker(lockerId: $value) { status } }", "lockerId"),
    "locker with nested reads": ("query ($value: ID!) { locker(lockerId: $value) { latestEvent { id } } }", "lockerId"),
    "consistent locker": ("query ($value: ID!) { locker(lockerId: $value, consistent: true) { status } }", "lockerId"),
    "owner": ("query ($value: ID!) { owner(ownerId: $value) { name } }", "ownerId"),
    "owner with lists": ("query ($value: ID!) { owner(ownerId: $value) { lockers { nextCursor } } }", "ownerId"),
    "API key": ("query ($value: ID!) { apiKey(keyId: $value) { name } }", "keyId"),
    "reservation's locker": (
        'query ($value: ID!) { reservation(lockerId: $value, reservationId: "r1") { status } }',
        "lockerId",
    ),
    "reservation": (
        'query ($value: ID!) { reservation(lockerId: "l1", reservationId: $value) { status } }',
        "reservationId",
    ),
}


def with_value(field: str, name: str, value: object) -> tuple[dict[str, Any], list[str]]:
    """A mutation's valid input but for one value, and that value's path."""
    values = VALID[field][1]
    if field == "recordAccessEvents":
        return {"events": [EVENT, {**EVENT, "eventId": "e2", name: value}]}, ["input", "events", "1", name]
    return {**values, name: value}, ["input", name]


def refusal(message: str, path: list[str]) -> dict[str, Any]:
    return {
        "__typename": "PlainError",
        "message": message,
        "code": "BAD_USER_INPUT",
        "path": path,
        "status": 400,
        "retryable": False,
    }


@pytest.mark.parametrize(("field", "name"), ID_FIELDS)
async def test_a_bad_id_in_an_input_is_refused_before_a_read(api: Api, wire: Wire, field: str, name: str) -> None:
    for bad in BAD_IDS:
        values, path = with_value(field, name, bad)
        payload = await api.mutate(DOCUMENTS[field], **values)
        assert payload == {ENTITIES[field]: None, "userErrors": [refusal(f"{name} {ID_RULE}", path)]}, repr(bad)
    assert not wire.calls


def test_every_id_of_every_input_is_tried() -> None:
    schema = build_schema().as_str()
    inputs = re.findall(r"^input (\w+)Input \{(.*?)^\}", schema, flags=re.DOTALL | re.MULTILINE)
    found = {
        (name[0].lower() + name[1:], own)
        for name, body in inputs
        for own in re.findall(r"(\w+): ID!?$", body, re.MULTILINE)
    }
    at_locations = {(name_of(document), own) for document, own in IDS} | {("createLocation", "locationId")}
    several = {("recordAccessEvents", own) for name, own in found if name == "recordAccessEvent"}
    assert found | several == set(ID_FIELDS) | at_locations


@pytest.mark.parametrize("query", QUERIES)
async def test_a_bad_id_in_a_query_is_refused_before_a_read(api: Api, wire: Wire, query: str) -> None:
    document, argument = QUERIES[query]
    for bad in BAD_IDS:
        answer = await api.send(document, value=bad)
        (root,) = answer["data"]
        (error,) = answer["errors"]
        assert answer["data"] == {root: None}
        assert (error["message"], error["path"]) == (f"{argument} {ID_RULE}", [root])
        assert error["extensions"] | {"requestId": ""} == {
            "code": "BAD_USER_INPUT",
            "status": 400,
            "inputPath": [argument],
            "requestId": "",
        }
    assert not wire.calls


@pytest.mark.parametrize("field", VALID)
async def test_an_id_that_is_neither_text_nor_a_whole_number_is_refused(api: Api, wire: Wire, field: str) -> None:
    for bad in (1.5, True, ["l1"], {"id": "l1"}):
        name = next(name for each, name in ID_FIELDS if each == field)
        values, path = with_value(field, name, bad)
        answer = await api.send(DOCUMENTS[field], input=values)
        (error,) = answer["errors"]
        assert (error["extensions"]["code"], error["extensions"]["status"]) == ("BAD_USER_INPUT", 400)
        assert error["extensions"]["inputPath"] == path
    assert not wire.calls


@pytest.mark.parametrize(("field", "name"), TEXT_FIELDS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("", "must have 1 to 200 characters"),
        ("   ", "must have 1 to 200 characters"),
        ("\t\n", "must have 1 to 200 characters"),
        ("\u00a0\u3000", "must have 1 to 200 characters"),
        ("x" * 201, "must have 1 to 200 characters"),
        ("x" * 10_000, "must have 1 to 200 characters"),
        ("a\nb", "must not contain control characters"),
        ("a\u0000b", "must not contain control characters"),
        ("a\u007fb", "must not contain control characters"),
        ("a\u0085b", "must not contain control characters"),
        ("a\u2028b", "must not contain control characters"),
    ],
)
async def test_a_name_that_is_empty_endless_or_more_than_a_line_is_refused(
    api: Api, wire: Wire, field: str, name: str, bad: str, message: str
) -> None:
    values, path = with_value(field, name, bad)
    payload = await api.mutate(DOCUMENTS[field], **values)
    assert payload == {ENTITIES[field]: None, "userErrors": [refusal(f"{name} {message}", path)]}
    assert not wire.calls


@pytest.mark.parametrize("name", ["x", "x" * 200, "🔒" * 200, "Zoë Ångström-李"])
async def test_a_name_of_any_script_and_up_to_200_characters_is_taken(api: Api, name: str) -> None:
    payload = await api.mutate(mutation("createOwner", "owner { name }"), kind="USER", name=name)
    assert payload == {"owner": {"name": name}, "userErrors": []}


@pytest.mark.parametrize(("field", "name"), EMAIL_FIELDS)
@pytest.mark.parametrize(
    "bad",
    [
        "",
        " ",
        "ada",
        "@example.com",
        "ada@",
        "ada@example",
        "ada@@example.com",
        "ada@exa@mple.com",
        "ada lovelace@example.com",
        "ada@exam ple.com",
        "ada\n@example.com",
        "adä@example.com",
        "ada@exämple.com",
        "a" * 65 + "@example.com",
        "ada@" + "x" * 250 + ".com",
    ],
)
async def test_a_malformed_address_is_refused(api: Api, wire: Wire, field: str, name: str, bad: str) -> None:
    values, path = with_value(field, name, bad)
    payload = await api.mutate(DOCUMENTS[field], **values)
    message = "email must be an e-mail address such as ada@example.com"
    assert payload == {ENTITIES[field]: None, "userErrors": [refusal(message, path)]}
    answer = await api.send("query ($email: String!) { ownerByEmail(email: $email) { ownerId } }", email=bad)
    (error,) = answer["errors"]
    assert (answer["data"], error["message"], error["path"]) == ({"ownerByEmail": None}, message, ["ownerByEmail"])
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", ["email"])
    assert not wire.calls


async def test_every_problem_of_an_input_is_named_at_once(api: Api, wire: Wire) -> None:
    payload = await api.mutate(DOCUMENTS["createOwner"], ownerId="#", kind="USER", name=" ", email="ada")
    assert payload == {
        "owner": None,
        "userErrors": [
            refusal(f"ownerId {ID_RULE}", ["input", "ownerId"]),
            refusal("name must have 1 to 200 characters", ["input", "name"]),
            refusal("email must be an e-mail address such as ada@example.com", ["input", "email"]),
        ],
    }
    assert not wire.calls


@pytest.mark.parametrize(("field", "name", "enum"), ENUM_FIELDS)
@pytest.mark.parametrize("bad", ["NOPE", "", "available", 1, None])
async def test_an_unknown_enum_value_in_a_variable_is_refused_with_its_place(
    api: Api, wire: Wire, field: str, name: str, enum: str, bad: object
) -> None:
    values, path = with_value(field, name, bad)
    answer = await api.send(DOCUMENTS[field], input=values)
    (error,) = answer["errors"]
    assert "data" not in answer
    assert enum in error["message"]
    assert error["extensions"] | {"requestId": ""} == {
        "code": "BAD_USER_INPUT",
        "status": 400,
        "inputPath": path,
        "requestId": "",
    }
    assert not wire.calls


@pytest.mark.parametrize(("field", "name", "enum"), ENUM_FIELDS)
async def test_an_unknown_enum_value_in_the_document_fails_validation(
    api: Api, wire: Wire, field: str, name: str, enum: str
) -> None:
    literal = ", ".join(
        f"{key}: {'NOPE' if key == name else json.dumps(value)}" for key, value in VALID[field][1].items()
    )
    for key, value in VALID[field][1].items():
        if any(key == each for _, each, _ in ENUM_FIELDS):
            literal = literal.replace(f"{key}: {json.dumps(value)}", f"{key}: {value}")
    answer = await api.send(f"mutation {{ {field}(input: {{ {literal} }}) {{ __typename }} }}")
    (error,) = answer["errors"]
    assert error["message"].startswith(f"Value 'NOPE' does not exist in '{enum}' enum.")
    assert error["locations"]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("GRAPHQL_VALIDATION_FAILED", 400)
    assert "data" not in answer
    assert not wire.calls


@pytest.mark.parametrize(
    ("field", "name"),
    [*ID_FIELDS, *TEXT_FIELDS, *EMAIL_FIELDS, ("recordAccessEvent", "metadata"), ("extendReservation", "newEndAt")],
)
@pytest.mark.parametrize("half", ["\\ud800", "\\udc00x", "x\\ud800\\ud800"])
async def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(
    api: Api, wire: Wire, field: str, name: str, half: str
) -> None:
    value: object = {"deep": ["HALF"]} if name == "metadata" else "HALF"
    values, _ = with_value(field, name, value)
    body = json.dumps({"query": DOCUMENTS[field], "variables": {"input": values}}).replace("HALF", half)
    response = await api.client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
    (error,) = response.json()["errors"]
    assert response.status_code == 400
    assert error["message"] == "The request is not valid JSON."
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("BAD_USER_INPUT", 400)
    assert not wire.calls
