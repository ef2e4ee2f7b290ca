"""The schema as partners see it: described throughout, exported as a file, with the names that were promised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
    print_ast,
)

from resolvers.schema import build_schema as build_our_schema
from tests.resolvers import key_names, place_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLArgument, GraphQLInputField, GraphQLNamedType

EXPORTED = Path(__file__).parents[2] / "schema.graphql"
SDL = build_our_schema().as_str()
SCHEMA = build_schema(SDL)
OWN_TYPES = {name: kind for name, kind in SCHEMA.type_map.items() if not name.startswith("__")}
BUILT_IN = {"ID", "Int", "String", "Boolean", "Float"}


def spelled(name: str, value: GraphQLArgument | GraphQLInputField) -> str:
    """An argument or input field as the schema's text has it, without its description."""
    node = value.ast_node
    assert node is not None
    assert node.name.value == name
    default = "" if node.default_value is None else f" = {print_ast(node.default_value)}"
    return f"{name}: {value.type}{default}"


def described_parts(kind: GraphQLNamedType) -> Iterator[tuple[str, str | None]]:
    """A type and everything in it, each with its description."""
    yield kind.name, kind.description
    match kind:
        case GraphQLObjectType() | GraphQLInterfaceType():
            for name, field in kind.fields.items():
                yield f"{kind.name}.{name}", field.description
                for argument, value in field.args.items():
                    yield f"{kind.name}.{name}({argument})", value.description
        case GraphQLInputObjectType():
            for name, field in kind.fields.items():
                yield f"{kind.name}.{name}", field.description
        case GraphQLEnumType():
            for name, value in kind.values.items():
                yield f"{kind.name}.{name}", value.description


PARTS = [part for kind in OWN_TYPES.values() if kind.name not in BUILT_IN for part in described_parts(kind)]


def test_the_exported_schema_is_the_one_that_is_served() -> None:
    assert EXPORTED.read_text() == SDL.rstrip("\n") + "\n"


def test_everything_in_the_schema_has_a_description() -> None:
    assert len(PARTS) > 200
    assert [name for name, description in PARTS if not (description or "").strip()] == []


def test_a_description_is_a_sentence() -> None:
    assert [name for name, text in PARTS if text and (not text.endswith(".") or text[0].islower())] == []


def test_a_scalar_of_our_own_says_what_specifies_it() -> None:
    scalars = [kind for kind in OWN_TYPES.values() if isinstance(kind, GraphQLScalarType) and kind.name not in BUILT_IN]
    assert {kind.name: kind.specified_by_url for kind in scalars} == {
        "Date": "https://www.rfc-editor.org/rfc/rfc3339",
        "DateTime": "https://www.rfc-editor.org/rfc/rfc3339",
        "Decimal": "https://www.rfc-editor.org/rfc/rfc8259",
        "JSON": "https://www.rfc-editor.org/rfc/rfc8259",
    }


WINDOW, ORDERED = "window: TimeWindow", "orderBy: OrderBy! = "
PAGING = ["first: Int", "after: String", "last: Int", "before: String"]
FIELDS: dict[str, dict[str, tuple[str, list[str]]]] = {
    "Query": {
        "node": ("Node", ["id: ID!"]),
        "nodes": ("[Node]!", ["ids: [ID!]!"]),
        "locker": ("Locker", ["lockerId: ID!", "consistent: Boolean! = false"]),
        "owner": ("Owner", ["ownerId: ID!"]),
        "ownerByEmail": ("Owner", ["email: String!"]),
        "reservation": ("Reservation", ["lockerId: ID!", "reservationId: ID!"]),
        **place_names.QUERIES,
        **key_names.QUERIES,
    },
    "Node": {"id": ("ID!", [])},
    "Locker": {
        "id": ("ID!", []),
        "lockerId": ("ID!", []),
        "alias": ("String", []),
        "status": ("LockerStatus!", []),
        "version": ("Int!", []),
        "createdAt": ("DateTime!", []),
        "updatedAt": ("DateTime!", []),
        "owner": ("Owner", []),
        "ownerId": ("ID!", []),
        "activeReservation": ("Reservation", []),
        "reservations": ("ReservationConnection", [WINDOW, f"{ORDERED}ASC", *PAGING]),
        "accessEvents": ("AccessEventConnection", [WINDOW, f"{ORDERED}DESC", *PAGING]),
        "latestEvent": ("AccessEvent", []),
        **place_names.LOCKER_FIELDS,
    },
    "Owner": {
        "id": ("ID!", []),
        "ownerId": ("ID!", []),
        "kind": ("OwnerKind!", []),
        "name": ("String!", []),
        "email": ("String", []),
        "version": ("Int!", []),
        "createdAt": ("DateTime!", []),
        "updatedAt": ("DateTime!", []),
        "lockers": ("LockerConnection", PAGING),
        "reservations": ("ReservationConnection", [WINDOW, f"{ORDERED}ASC", *PAGING]),
        **place_names.OWNER_FIELDS,
    },
    **place_names.FIELDS,
    **key_names.FIELDS,
    "Reservation": {
        "id": ("ID!", []),
        "reservationId": ("ID!", []),
        "locker": ("Locker", []),
        "lockerId": ("ID!", []),
        "owner": ("Owner", []),
        "ownerId": ("ID!", []),
        "startAt": ("DateTime!", []),
        "endAt": ("DateTime!", []),
        "status": ("ReservationStatus!", []),
        "createdAt": ("DateTime!", []),
        "updatedAt": ("DateTime!", []),
    },
    "AccessEvent": {
        "id": ("ID!", []),
        "eventId": ("ID!", []),
        "locker": ("Locker", []),
        "lockerId": ("ID!", []),
        "timestamp": ("DateTime!", []),
        "recordedAt": ("DateTime!", []),
        "action": ("AccessAction!", []),
        "actorId": ("ID!", []),
        "result": ("AccessResult!", []),
        "metadata": ("JSON", []),
    },
    "PageInfo": {
        "hasNextPage": ("Boolean!", []),
        "hasPreviousPage": ("Boolean!", []),
        "startCursor": ("String", []),
        "endCursor": ("String", []),
    },
    "UserError": {
        "message": ("String!", []),
        "code": ("UserErrorCode!", []),
        "path": ("[String!]!", []),
        "status": ("Int!", []),
        "retryable": ("Boolean!", []),
    },
}
MUTATIONS = {
    "createOwner": "owner: Owner",
    "updateOwner": "owner: Owner",
    "registerLocker": "locker: Locker",
    "renameLocker": "locker: Locker",
    "moveLocker": "locker: Locker",
    "updateLockerStatus": "locker: Locker",
    "transferLocker": "locker: Locker",
    "createReservation": "reservation: Reservation",
    "cancelReservation": "reservation: Reservation",
    "extendReservation": "reservation: Reservation",
    "recordAccessEvent": "accessEvent: AccessEvent",
    "recordAccessEvents": "accessEvents: [AccessEvent!]",
    **place_names.MUTATIONS,
    **key_names.MUTATIONS,
}
INPUTS = {
    "CreateOwnerInput": [
        "ownerId: ID",
        "kind: OwnerKind!",
        "name: String!",
        "email: String",
        "phone: String",
        "role: OwnerRole! = USER",
    ],
    "UpdateOwnerInput": [
        "ownerId: ID!",
        "expectedVersion: Int!",
        "name: String",
        "email: String",
        "phone: String",
        "role: OwnerRole",
    ],
    "RegisterLockerInput": ["lockerId: ID", "ownerId: ID!", "alias: String", "locationId: ID"],
    **place_names.INPUTS,
    **key_names.INPUTS,
    "RenameLockerInput": ["lockerId: ID!", "alias: String!", "expectedVersion: Int!"],
    "UpdateLockerStatusInput": ["lockerId: ID!", "newStatus: LockerStatus!", "expectedVersion: Int!"],
    "TransferLockerInput": ["lockerId: ID!", "newOwnerId: ID!", "expectedVersion: Int!"],
    "CreateReservationInput": [
        "lockerId: ID!",
        "reservationId: ID",
        "ownerId: ID!",
        "startAt: DateTime!",
        "endAt: DateTime!",
    ],
    "CancelReservationInput": ["lockerId: ID!", "reservationId: ID!"],
    "ExtendReservationInput": ["lockerId: ID!", "reservationId: ID!", "newEndAt: DateTime!"],
    "RecordAccessEventInput": [
        "lockerId: ID!",
        "eventId: ID",
        "timestamp: DateTime",
        "action: AccessAction!",
        "actorId: ID!",
        "result: AccessResult!",
        "metadata: JSON",
    ],
    "RecordAccessEventsInput": ["events: [RecordAccessEventInput!]!"],
    "TimeWindow": ["from: DateTime", "to: DateTime"],
}
ENUMS = {
    "LockerStatus": ["AVAILABLE", "OCCUPIED", "MAINTENANCE"],
    "ReservationStatus": ["ACTIVE", "CANCELLED", "EXPIRED"],
    "AccessAction": ["OPEN", "CLOSE", "UNLOCK", "LOCK", "DENIED", "TAMPER"],
    "AccessResult": ["SUCCESS", "FAIL"],
    "OwnerKind": ["USER", "ORGANIZATION"],
    "OrderBy": ["ASC", "DESC"],
    **place_names.ENUMS,
    **key_names.ENUMS,
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_type_has_exactly_the_promised_fields_and_arguments(name: str) -> None:
    kind = OWN_TYPES[name]
    assert isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
    found = {
        field: (str(value.type), [spelled(argument, given) for argument, given in value.args.items()])
        for field, value in kind.fields.items()
    }
    assert found == FIELDS[name]


@pytest.mark.parametrize(
    "entity", ["Locker", "Reservation", "AccessEvent", "Location", "Booking", "Payment", "Notification", "ApiKey"]
)
def test_a_connection_has_edges_nodes_page_info_and_the_next_cursor(entity: str) -> None:
    connection, edge = OWN_TYPES[f"{entity}Connection"], OWN_TYPES[f"{entity}Edge"]
    assert isinstance(connection, GraphQLObjectType)
    assert isinstance(edge, GraphQLObjectType)
    assert {name: str(field.type) for name, field in connection.fields.items()} == {
        "edges": f"[{entity}Edge!]!",
        "nodes": f"[{entity}!]!",
        "pageInfo": "PageInfo!",
        "nextCursor": "String",
    }
    assert {name: str(field.type) for name, field in edge.fields.items()} == {"cursor": "String!", "node": f"{entity}!"}


def test_every_mutation_takes_one_input_and_gives_its_entity_beside_the_user_errors() -> None:
    assert SCHEMA.mutation_type is not None
    assert list(SCHEMA.mutation_type.fields) == list(MUTATIONS)
    for name, field in SCHEMA.mutation_type.fields.items():
        title = name[0].upper() + name[1:]
        assert [spelled(argument, given) for argument, given in field.args.items()] == [f"input: {title}Input!"]
        assert str(field.type) == f"{title}Payload!"
        payload = OWN_TYPES[f"{title}Payload"]
        assert isinstance(payload, GraphQLObjectType)
        assert [f"{part}: {value.type}" for part, value in payload.fields.items()] == [
            *MUTATIONS[name].split(", "),
            "userErrors: [UserError!]!",
        ]


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_has_exactly_the_promised_fields(name: str) -> None:
    kind = OWN_TYPES[name]
    assert isinstance(kind, GraphQLInputObjectType)
    assert [spelled(field, value) for field, value in kind.fields.items()] == INPUTS[name]


def test_there_is_no_input_that_was_not_promised() -> None:
    assert {name for name, kind in OWN_TYPES.items() if isinstance(kind, GraphQLInputObjectType)} == set(INPUTS)


@pytest.mark.parametrize("name", ENUMS)
def test_an_enum_has_exactly_the_promised_values(name: str) -> None:
    kind = OWN_TYPES[name]
    assert isinstance(kind, GraphQLEnumType)
    assert list(kind.values) == ENUMS[name]


def test_every_error_type_carries_what_helps() -> None:
    extra = {
        "PlainError": {},
        "VersionConflict": {"currentVersion": "Int!"},
        "InvalidTransition": {"currentStatus": "LockerStatus!", "allowedStatuses": "[LockerStatus!]!"},
        "ReservationOverlap": {"reservation": "Reservation!"},
        "SlotTaken": {"event": "CalendarEvent!"},
    }
    found = {}
    for name, kind in OWN_TYPES.items():
        if isinstance(kind, GraphQLObjectType) and [each.name for each in kind.interfaces] == ["UserError"]:
            own = {field: str(value.type) for field, value in kind.fields.items() if field not in FIELDS["UserError"]}
            found[name] = own
    assert found == extra
