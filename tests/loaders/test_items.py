"""Codecs: an item is exactly its model, or it is damage and said to be."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic.alias_generators import to_snake

from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    EventId,
    LocationId,
    Locker,
    LockerId,
    LockerStatus,
    LockerSummary,
    Owner,
    OwnerId,
    OwnerKind,
    OwnerRole,
    Reservation,
    ReservationId,
    ReservationStatus,
)
from domain.times import Instant
from loaders import items
from loaders.items import Codec, DamagedItemError, EmailClaim, EventClaim, Guard, ReservationClaim, difference
from tests.loaders.key_kinds import KEY_KINDS, KEY_OPTIONAL
from tests.loaders.place_kinds import PLACE_KINDS, PLACE_OPTIONAL

NOON = Instant("2026-03-01T12:00:00.000Z")
ONE = Instant("2026-03-01T13:00:00.000Z")
RESERVATION = Reservation(
    reservation_id=ReservationId("r1"),
    locker_id=LockerId("l1"),
    owner_id=OwnerId("ada"),
    start_at=NOON,
    end_at=ONE,
    status=ReservationStatus.ACTIVE,
    created_at=NOON,
    updated_at=NOON,
)
RESERVATION_ATTRIBUTES = {
    "reservationId": "r1",
    "lockerId": "l1",
    "ownerId": "ada",
    "startAt": "2026-03-01T12:00:00.000Z",
    "endAt": "2026-03-01T13:00:00.000Z",
    "status": "ACTIVE",
    "createdAt": "2026-03-01T12:00:00.000Z",
    "updatedAt": "2026-03-01T12:00:00.000Z",
}
KINDS: dict[str, tuple[Codec[Any], Any, dict[str, Any]]] = {
    "locker": (
        items.LOCKER,
        Locker(
            locker_id=LockerId("l1"),
            owner_id=OwnerId("acme"),
            status=LockerStatus.OCCUPIED,
            alias="Hall 3",
            created_at=NOON,
            updated_at=ONE,
            version=3,
            location_id=LocationId("rome"),
        ),
        {
            "entityType": "LOCKER",
            "lockerId": "l1",
            "ownerId": "acme",
            "status": "OCCUPIED",
            "alias": "Hall 3",
            "createdAt": "2026-03-01T12:00:00.000Z",
            "updatedAt": "2026-03-01T13:00:00.000Z",
            "version": 3,
            "locationId": "rome",
        },
    ),
    "owner's locker": (
        items.OWNER_LOCKER,
        LockerSummary(
            owner_id=OwnerId("acme"),
            locker_id=LockerId("l1"),
            status=LockerStatus.AVAILABLE,
            alias="Hall 3",
            updated_at=NOON,
        ),
        {
            "entityType": "OWNER_LOCKER",
            "ownerId": "acme",
            "lockerId": "l1",
            "status": "AVAILABLE",
            "alias": "Hall 3",
            "updatedAt": "2026-03-01T12:00:00.000Z",
        },
    ),
    "owner": (
        items.OWNER,
        Owner(
            owner_id=OwnerId("acme"),
            kind=OwnerKind.ORGANIZATION,
            name="Acme",
            email="Post@Acme.com",
            created_at=NOON,
            updated_at=NOON,
            version=1,
            phone="+39 123 456 7890",
            role=OwnerRole.ADMIN,
        ),
        {
            "entityType": "OWNER",
            "ownerId": "acme",
            "kind": "ORGANIZATION",
            "name": "Acme",
            "email": "Post@Acme.com",
            "createdAt": "2026-03-01T12:00:00.000Z",
            "updatedAt": "2026-03-01T12:00:00.000Z",
            "version": 1,
            "phone": "+39 123 456 7890",
            "role": "ADMIN",
        },
    ),
    "e-mail claim": (
        items.EMAIL_CLAIM,
        EmailClaim(owner_id=OwnerId("acme")),
        {"entityType": "EMAIL_CLAIM", "ownerId": "acme"},
    ),
    "reservation": (items.RESERVATION, RESERVATION, {"entityType": "RESERVATION", **RESERVATION_ATTRIBUTES}),
    "owner's reservation": (
        items.OWNER_RESERVATION,
        RESERVATION,
        {"entityType": "OWNER_RESERVATION", **RESERVATION_ATTRIBUTES},
    ),
    "active pointer": (
        items.ACTIVE_POINTER,
        RESERVATION,
        {"entityType": "RESERVATION_ACTIVE", **RESERVATION_ATTRIBUTES},
    ),
    "reservation claim": (
        items.RESERVATION_CLAIM,
        ReservationClaim(reservation_id=ReservationId("r1"), locker_id=LockerId("l1"), start_at=NOON, fingerprint="f"),
        {
            "entityType": "RESERVATION_CLAIM",
            "reservationId": "r1",
            "lockerId": "l1",
            "startAt": "2026-03-01T12:00:00.000Z",
            "fingerprint": "f",
        },
    ),
    "guard": (items.GUARD, Guard(revision=7), {"entityType": "RESERVATION_GUARD", "revision": 7}),
    "event": (
        items.ACCESS_EVENT,
        AccessEvent(
            event_id=EventId("e1"),
            locker_id=LockerId("l1"),
            timestamp=NOON,
            recorded_at=ONE,
            action=AccessAction.OPEN,
            actor_id="ada",
            result=AccessResult.FAIL,
            metadata={"a": Decimal("0.1")},
        ),
        {
            "entityType": "ACCESS_EVENT",
            "eventId": "e1",
            "lockerId": "l1",
            "timestamp": "2026-03-01T12:00:00.000Z",
            "recordedAt": "2026-03-01T13:00:00.000Z",
            "action": "OPEN",
            "actorId": "ada",
            "result": "FAIL",
            "metadata": {"a": Decimal("0.1")},
        },
    ),
    "event claim": (
        items.EVENT_CLAIM,
        EventClaim(event_id=EventId("e1"), locker_id=LockerId("l1"), timestamp=NOON, fingerprint="f"),
        {
            "entityType": "ACCESS_EVENT_CLAIM",
            "eventId": "e1",
            "lockerId": "l1",
            "timestamp": "2026-03-01T12:00:00.000Z",
            "fingerprint": "f",
        },
    ),
    **PLACE_KINDS,
    **KEY_KINDS,
}
OPTIONAL = {
    ("locker", "alias"),
    ("locker", "locationId"),
    ("owner's locker", "alias"),
    ("owner", "email"),
    ("owner", "phone"),
    ("event", "metadata"),
    *PLACE_OPTIONAL,
    *KEY_OPTIONAL,
}
DEFAULTED = {("owner", "role")}
ENUMS = {"status", "kind", "action", "result", "role", "duration", "slot", "bookingStatus"}
ATTRIBUTES = [(kind, name) for kind, (_, _, attributes) in KINDS.items() for name in attributes if name != "entityType"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_becomes_its_attributes_and_comes_back(kind: str) -> None:
    codec, model, attributes = KINDS[kind]
    assert codec.encode(model) == attributes
    assert codec.decode(attributes) == model
    assert codec.decode({"PK": "p", "SK": "s", "fingerprint of another time": "f", **attributes}) == model


def test_every_codec_is_tried_here() -> None:
    codecs = {value for value in vars(items).values() if isinstance(value, Codec)}
    assert codecs == {codec for codec, _, _ in KINDS.values()}
    assert len({codec.entity_type for codec in codecs}) == len(codecs)


@pytest.mark.parametrize(("kind", "name"), [pair for pair in ATTRIBUTES if pair not in OPTIONAL])
def test_an_item_that_lacks_an_attribute_is_damaged(kind: str, name: str) -> None:
    codec, _, attributes = KINDS[kind]
    damaged = {key: value for key, value in attributes.items() if key != name}
    if (kind, name) not in DEFAULTED:
        with pytest.raises(DamagedItemError, match=rf"^item p / s \(\w{{12}}\) has no good {name}$"):
            codec.decode({"PK": "p", "SK": "s", **damaged})
    with pytest.raises(DamagedItemError, match=rf"^item p / s \(\w{{12}}\) has no good {name}$"):
        codec.decode({"PK": "p", "SK": "s", **attributes, name: None})


@pytest.mark.parametrize(("kind", "name"), sorted(OPTIONAL))
def test_an_attribute_that_may_be_absent_is_none_then(kind: str, name: str) -> None:
    codec, model, attributes = KINDS[kind]
    without = {key: value for key, value in attributes.items() if key != name}
    decoded = codec.decode(without)
    assert getattr(decoded, to_snake(name)) is None
    assert decoded != model
    assert codec.encode(decoded) == without


@pytest.mark.parametrize("wrong", [True, 1, Decimal("1.5"), "text", [], {}])
@pytest.mark.parametrize(("kind", "name"), ATTRIBUTES)
def test_an_attribute_of_another_type_is_damage(kind: str, name: str, wrong: Any) -> None:
    codec, _, attributes = KINDS[kind]
    is_good = type(wrong) is type(attributes[name]) or (type(attributes[name]) is Decimal and type(wrong) is int)
    if is_good and name not in ENUMS:
        decoded = getattr(codec.decode({**attributes, name: wrong}), to_snake(name))
        assert (list(decoded) if isinstance(decoded, tuple) else decoded) == wrong
        return
    with pytest.raises(DamagedItemError, match=rf"^item p / s \(\w{{12}}\) has no good {name}$"):
        codec.decode({"PK": "p", "SK": "s", **attributes, name: wrong})


@pytest.mark.parametrize("wrong", [["ada", 5], ["ada", None], [["ada"]], ("ada",), "ada"])
def test_a_list_that_holds_anything_but_texts_is_damage(wrong: Any) -> None:
    codec, _, attributes = KINDS["API key"]
    with pytest.raises(DamagedItemError, match=r"^item p / s \(\w{12}\) has no good ownerIds$"):
        codec.decode({"PK": "p", "SK": "s", **attributes, "ownerIds": wrong})
    with pytest.raises(DamagedItemError, match=r"^item p / s \(\w{12}\) has no good scopes$"):
        codec.decode({"PK": "p", "SK": "s", **attributes, "scopes": ["lockers:read", "everything"]})


@pytest.mark.parametrize("kind", KINDS)
def test_an_item_of_another_kind_is_damage(kind: str) -> None:
    codec, _, attributes = KINDS[kind]
    with pytest.raises(DamagedItemError, match=rf"^item p / s \(\w{{12}}\) is 'OTHER', not '{codec.entity_type}'$"):
        codec.decode({"PK": "p", "SK": "s", **attributes, "entityType": "OTHER"})
    with pytest.raises(DamagedItemError, match=rf" is None, not '{codec.entity_type}'$"):
        codec.decode({key: value for key, value in attributes.items() if key != "entityType"})


def test_a_copy_of_a_reservation_is_never_taken_for_the_reservation() -> None:
    copy = items.OWNER_RESERVATION.encode(RESERVATION)
    for codec in (items.RESERVATION, items.ACTIVE_POINTER):
        with pytest.raises(DamagedItemError):
            codec.decode(copy)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1, "b": 1}, {"a": 1}, {"b": None}),
        ({"a": 1}, {"a": 1, "b": 1}, {"b": 1}),
        ({"a": 1, "b": 1}, {"b": 2, "c": 3}, {"a": None, "b": 2, "c": 3}),
        ({}, {}, {}),
    ],
)
def test_a_difference_names_what_changes_and_what_goes(
    before: dict[str, Any], after: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert difference(before, after) == changes
