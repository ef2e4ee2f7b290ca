"""What a later release added to items, and numbers: older items read well, and nothing is rounded."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.models import LocationId, OwnerRole
from loaders import items
from loaders.batch import open_loaders
from loaders.items import Codec, DamagedItemError
from loaders.table.values import item_from_wire, item_to_wire
from tests.loaders.place_kinds import PLACE_KINDS

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.wire import Wire

OLD_OWNER: dict[str, Any] = {
    "entityType": "OWNER",
    "ownerId": "ada",
    "kind": "USER",
    "name": "Ada",
    "createdAt": "2026-03-01T12:00:00.000Z",
    "updatedAt": "2026-03-01T12:00:00.000Z",
    "version": 1,
}
OLD_LOCKER: dict[str, Any] = {
    "entityType": "LOCKER",
    "lockerId": "l1",
    "ownerId": "ada",
    "status": "AVAILABLE",
    "createdAt": "2026-03-01T12:00:00.000Z",
    "updatedAt": "2026-03-01T12:00:00.000Z",
    "version": 1,
}
LOCATION = PLACE_KINDS["location"][2]
PAYMENT = PLACE_KINDS["payment"][2]


class Mood(StrEnum):
    GOOD = "GOOD"
    BAD = "BAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    size: Decimal
    count: int = 3
    mood: Mood = Mood.GOOD
    note: str | None = None
    weight: Decimal | None = None


SAMPLE = Codec(Sample, "SAMPLE")


def test_an_item_from_before_a_field_has_the_fields_default() -> None:
    assert SAMPLE.decode({"entityType": "SAMPLE", "size": 1}) == Sample(size=Decimal(1))
    owner = items.OWNER.decode(OLD_OWNER)
    assert (owner.role, owner.phone) == (OwnerRole.USER, None)
    assert items.LOCKER.decode(OLD_LOCKER).location_id is None


def test_a_default_is_written_and_what_is_none_is_not() -> None:
    assert SAMPLE.encode(Sample(size=Decimal("1.5"))) == {
        "entityType": "SAMPLE",
        "size": Decimal("1.5"),
        "count": 3,
        "mood": "GOOD",
    }
    assert items.OWNER.encode(items.OWNER.decode(OLD_OWNER)) == {**OLD_OWNER, "role": "USER"}
    assert items.LOCKER.encode(items.LOCKER.decode(OLD_LOCKER)) == OLD_LOCKER


@pytest.mark.parametrize(
    ("name", "wrong"), [("count", None), ("count", "3"), ("mood", None), ("mood", "SAD"), ("note", 5)]
)
def test_a_default_hides_no_damage(name: str, wrong: Any) -> None:
    with pytest.raises(DamagedItemError, match=rf"^item p / s \(\w{{12}}\) has no good {name}$"):
        SAMPLE.decode({"PK": "p", "SK": "s", "entityType": "SAMPLE", "size": 1, name: wrong})


@pytest.mark.parametrize("wrong", [None, "ROOT", "admin", "", 1])
def test_a_role_that_is_none_of_ours_is_damage_and_never_a_users(wrong: Any) -> None:
    with pytest.raises(DamagedItemError, match=r"^item p / s \(\w{12}\) has no good role$"):
        items.OWNER.decode({"PK": "p", "SK": "s", **OLD_OWNER, "role": wrong})


def test_a_field_without_a_default_is_still_needed() -> None:
    with pytest.raises(DamagedItemError, match=r" has no good size$"):
        SAMPLE.decode({"entityType": "SAMPLE"})


@pytest.mark.parametrize(("stored", "value"), [(12, "12"), (-12, "-12"), (0, "0"), (Decimal("12.5"), "12.5")])
def test_a_number_that_happens_to_be_whole_is_still_a_decimal(stored: Any, value: str) -> None:
    location = items.LOCATION.decode({**LOCATION, "lat": stored, "lng": stored})
    payment = items.PAYMENT.decode({**PAYMENT, "amount": stored})
    for number in (location.lat, location.lng, payment.amount):
        assert type(number) is Decimal
        assert number == Decimal(value)


@pytest.mark.parametrize("wrong", [True, False, "12.5", 12.5, None, [], {}])
def test_what_is_no_number_is_no_amount(wrong: Any) -> None:
    with pytest.raises(DamagedItemError, match=r"^item p / s \(\w{12}\) has no good amount$"):
        items.PAYMENT.decode({"PK": "p", "SK": "s", **PAYMENT, "amount": wrong})


@pytest.mark.parametrize("wrong", [Decimal("2.5"), True, "2"])
def test_a_count_is_never_a_fraction(wrong: Any) -> None:
    for kind, name in (("booking", "attendees"), ("booking", "version"), ("location", "version")):
        codec, _, attributes = PLACE_KINDS[kind]
        with pytest.raises(DamagedItemError, match=rf" has no good {name}$"):
            codec.decode({**attributes, name: wrong})


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**14), max_value=10**14))
def test_an_amount_comes_back_from_the_wire_exactly(amount: Decimal) -> None:
    there = item_to_wire(items.PAYMENT.encode(items.PAYMENT.decode({**PAYMENT, "amount": amount})))
    assert there["amount"] == {"N": str(amount)}
    back = items.PAYMENT.decode(item_from_wire(there)).amount
    assert type(back) is Decimal
    assert back == amount


@pytest.mark.parametrize("text", ["12", "12.50", "-0.0001", "99999999999999.9999", "1." + "1" * 37, "0", "1E+2"])
async def test_a_number_comes_back_from_the_store_exactly(
    text: str, backend: Backend, plain_client: Any, table: str, wire: Wire
) -> None:
    key = {"PK": "LOCATION#rome", "SK": "META"}
    attributes = {**LOCATION, "lat": Decimal(text), "lng": None}
    stored = {name: value for name, value in attributes.items() if value is not None}
    await plain_client.put_item(TableName=table, Item=item_to_wire({**key, **stored}))
    location = await open_loaders(backend).location.load(LocationId("rome"))
    assert location is not None
    assert type(location.lat) is Decimal
    assert (location.lat, location.lng) == (Decimal(text), None)
    assert wire.operations == {"GetItem": 1}


def test_copies_are_never_taken_for_what_they_are_copies_of() -> None:
    for one, other in ((items.BOOKING, items.OWNER_BOOKING), (items.OWNER_LOCKER, items.LOCATION_LOCKER)):
        for kind, (codec, _, attributes) in PLACE_KINDS.items():
            if codec in {one, other}:
                wrong = other if codec is one else one
                with pytest.raises(DamagedItemError, match=rf", not '{wrong.entity_type}'$"):
                    wrong.decode(attributes)
                assert codec.decode(attributes) == PLACE_KINDS[kind][1]
