import types
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

import orjson
import pytest
from pydantic.alias_generators import to_camel

from domain.models import ActivePointer, Reservation
from domain.times import Instant
from loaders import codecs
from loaders.conversion import Codec, DamagedItemError
from loaders.table.raw_transport import parser
from loaders.table.values import ReadItem, item_from_wire, item_to_wire
from tests.contracts.samples import record

CODECS: dict[str, Codec[Any]] = {
    name: value for name, value in vars(codecs).items() if isinstance(value, Codec) and name.isupper()
}
WRONG: list[Any] = [None, True, 1, Decimal("1.5"), "text", [], {}]


class Mood(StrEnum):
    GOOD = "GOOD"
    BAD = "BAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    size: Decimal
    count: int = 3
    mood: Mood = Mood.GOOD
    note: str | None = None


SAMPLE = Codec(Sample, "SAMPLE")


def model_of(codec: Codec[Any]) -> Any:
    return codec._model  # noqa: SLF001  # a codec has no use for it in public


def leaves(model: Any) -> Iterator[tuple[str, Any, bool, bool]]:
    """The attributes of a model's item with their types, whether each may be None, and whether it has a default."""
    hints = get_type_hints(model)
    for field in fields(model):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from leaves(hint)
        else:
            optional = get_origin(hint) in {Union, types.UnionType}
            kind = get_args(hint)[0] if optional else hint
            yield to_camel(field.name), kind, optional, field.default is not MISSING


ATTRIBUTES = [(name, *leaf) for name, codec in CODECS.items() for leaf in leaves(model_of(codec))]


def stored(name: str, **changes: Any) -> dict[str, Any]:
    """An item of one kind in which every attribute is present."""
    codec = CODECS[name]
    attributes = codec.encode(record(model_of(codec), 1, longest=True))
    return {"PK": "p", "SK": "s"} | item_from_wire(item_to_wire(attributes)) | changes


def read(codec: Codec[Any], item: dict[str, Any]) -> Any:
    """The model of an item, or the damage: the same however the item comes from the store."""
    wire = item_to_wire(item)
    parsed = parser("GetItem", codec.shape)(orjson.dumps({"Item": wire}))["Item"]
    try:
        model = codec.decode(item)
    except DamagedItemError as damage:
        if item_from_wire(wire) == item:
            assert str(codec.try_read(wire)) == str(codec.try_read(parsed)) == str(damage)  # noqa: PT017  # and raised
        raise
    assert codec.try_read(wire) == codec.try_read(parsed) == model
    assert repr(codec.try_read(parsed)) == repr(model), "each value is of its type"
    return model


def refused(codec: Codec[Any], item: dict[str, Any], attribute: str) -> None:
    with pytest.raises(DamagedItemError, match=rf"^item p / s \(\w{{12}}\) has no valid {attribute}$"):
        read(codec, item)


@pytest.mark.parametrize("longest", [False, True])
@pytest.mark.parametrize("name", CODECS)
def test_a_model_becomes_its_attributes_and_comes_back(name: str, *, longest: bool) -> None:
    codec = CODECS[name]
    model = record(model_of(codec), 1, longest=longest)
    attributes = codec.encode(model)
    named = {attribute for attribute, _, optional, _ in leaves(model_of(codec)) if longest or not optional}
    assert named | {"entityType"} <= set(attributes)
    assert None not in attributes.values()
    item = item_from_wire(item_to_wire(attributes))
    assert read(codec, item) == model
    whole = {"PK": "p", "SK": "s", "of another time": "f", **item}
    assert read(codec, whole) == model
    parsed = parser("GetItem", codec.shape)(orjson.dumps({"Item": item_to_wire(whole)}))["Item"]
    assert isinstance(parsed, ReadItem), "it is read while it is parsed"


def test_only_what_is_one_item_shares_an_entity_type() -> None:
    kinds = {codec.entity_type for codec in CODECS.values()}
    both = {
        "ACCESS_CODE": ["ACCESS_CODE", "STORED_ACCESS_CODE"],
        "RESERVATION": ["RESERVATION", "STORED_RESERVATION"],
        "LIVE_RESERVATION": ["LIVE_RESERVATION", "STORED_LIVE_RESERVATION"],
        "BOOKING": ["BOOKING", "REQUESTED_BOOKING"],
    }
    for kind in kinds:
        sharing = sorted(name for name, codec in CODECS.items() if codec.entity_type == kind)
        assert sharing == both.get(kind, sharing[:1])


@pytest.mark.parametrize(("name", "attribute", "kind", "optional", "defaulted"), ATTRIBUTES)
def test_an_attribute_that_is_missing_or_of_another_type_is_damage(
    name: str, attribute: str, kind: Any, *, optional: bool, defaulted: bool
) -> None:
    codec, item = CODECS[name], stored(name)
    without = {key: value for key, value in item.items() if key != attribute}
    if optional or defaulted:
        is_first_version = attribute == "version" and not optional  # which is what an older item has
        assert (codec.encode(read(codec, without)).get(attribute) == item[attribute]) is is_first_version
    else:
        refused(codec, without, attribute)
    is_enum = isinstance(kind, type) and issubclass(kind, Enum)
    for wrong in WRONG:
        fits = (type(wrong) is type(item[attribute]) and kind is not Instant) or (
            kind is Decimal and type(wrong) is int
        )
        if (fits and not is_enum) or (wrong is None and optional):
            assert codec.encode(read(codec, item | {attribute: wrong})).get(attribute) == wrong
        else:
            refused(codec, item | {attribute: wrong}, attribute)


@pytest.mark.parametrize("wrong", [["ada", 5], ["ada", None], [["ada"]], ("ada",), "ada"])
def test_a_list_that_holds_anything_but_texts_is_damage(wrong: Any) -> None:
    refused(codecs.API_KEY, stored("API_KEY", ownerIds=wrong), "ownerIds")
    refused(codecs.API_KEY, stored("API_KEY", scopes=["lockers:read", "everything"]), "scopes")


@pytest.mark.parametrize("name", CODECS)
def test_an_item_of_another_kind_is_damage(name: str) -> None:
    codec = CODECS[name]
    for other in {*(codec.entity_type for codec in CODECS.values()), "OTHER", None} - {codec.entity_type}:
        with pytest.raises(
            DamagedItemError, match=rf"^item p / s \(\w{{12}}\) is {other!r}, not '{codec.entity_type}'$"
        ):
            read(codec, stored(name, entityType=other))


def test_a_record_within_a_model_is_stored_in_the_same_item() -> None:
    reservation = record(Reservation, 1)
    pointer = ActivePointer(reservation=reservation, last_end_at=reservation.end_at)
    flat = codecs.RESERVATION.encode(reservation)
    assert codecs.ACTIVE_POINTER.encode(pointer) == flat | {
        "entityType": "RESERVATION_ACTIVE",
        "lastEndAt": reservation.end_at,
    }
    assert read(codecs.ACTIVE_POINTER, flat | {"entityType": "RESERVATION_ACTIVE"}).last_end_at is None


def test_an_item_from_before_a_field_has_the_fields_default_and_it_is_written() -> None:
    sample = read(SAMPLE, {"entityType": "SAMPLE", "size": 1})
    assert sample == Sample(size=Decimal(1))
    assert SAMPLE.encode(sample) == {"entityType": "SAMPLE", "size": Decimal(1), "count": 3, "mood": "GOOD"}
    for name, wrong in (("count", None), ("count", "3"), ("mood", None), ("mood", "SAD"), ("note", 5)):
        refused(SAMPLE, {"PK": "p", "SK": "s", "entityType": "SAMPLE", "size": 1, name: wrong}, name)


@pytest.mark.parametrize(("value", "exact"), [(12, "12"), (-12, "-12"), (0, "0"), (Decimal("12.5"), "12.5")])
def test_a_number_that_happens_to_be_whole_is_still_a_decimal(value: Any, exact: str) -> None:
    location = read(codecs.LOCATION, stored("LOCATION", lat=value, lng=value))
    payment = read(codecs.PAYMENT, stored("PAYMENT", amount=value))
    for number in (location.address.lat, location.address.lng, payment.amount.amount):
        assert (type(number), number) == (Decimal, Decimal(exact))
