import base64
import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidCursorError
from domain.models import LockerId, OwnerId, ReservationId
from domain.times import Instant
from loaders import keys
from loaders.cursors import decode_cursor, encode_cursor
from loaders.table.positions import Key

L1, ACME = LockerId("l1"), OwnerId("acme")
NOON, ONE = (Instant(f"2026-03-01T{hour}:00:00.000Z") for hour in ("12", "13"))
WITHIN = keys.locker_reservations(L1, NOON, ONE)
KEY = keys.reservation(L1, NOON, ReservationId("r1"))
CURSOR = (
    "eyJQSyI6IkxPQ0tFUiNsMSIsIlNLIjoiUkVTIzIwMjYtMDMtMDFUMTI6MDA6MDAuMDAwWiNyMSJ9"  # {"PK":"LOCKER#l1","SK":"RES#…"}
)


def encoded(content: Any) -> str:
    """Base64url of compact JSON, as a cursor is."""
    text = content if isinstance(content, str) else json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def refusal(cursor: str, argument: str = "after") -> str:
    with pytest.raises(InvalidCursorError) as error:
        decode_cursor(cursor, WITHIN, argument)
    assert error.value.path == (argument,)
    assert (error.value.code, error.value.status) == ("INVALID_CURSOR", 400)
    return error.value.message


def test_a_cursor_is_base64url_of_the_items_key_and_nothing_else() -> None:
    assert encode_cursor(KEY) == CURSOR
    assert json.loads(base64.urlsafe_b64decode(CURSOR)) == {"PK": KEY.pk, "SK": KEY.sk}


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "!!!!",
        "not a cursor",
        "Grüße",
        "\ud800",
        "\x00",
        "AAAA",  # base64, but no text
        "____",
        CURSOR[:-1],
        CURSOR + "A",
        CURSOR[:10] + "\n" + CURSOR[10:],
        encoded("text"),
        encoded("{"),
        pytest.param(encoded("[" * 100_000 + "]" * 100_000), id="deep"),
        pytest.param(encoded("9" * 5000), id="long number"),
        encoded(None),
        encoded(5),
        encoded([]),
        encoded("key"),
        encoded([KEY.pk, KEY.sk]),
        encoded({}),
        encoded({"PK": KEY.pk}),
        encoded({"SK": KEY.sk}),
        encoded({"pk": KEY.pk, "sk": KEY.sk}),
    ],
)
def test_a_text_that_is_not_a_cursor_is_refused(cursor: str) -> None:
    assert refusal(cursor) == "This is not a cursor of this API."


@pytest.mark.parametrize(
    "cursor",
    [
        encoded({"PK": KEY.pk, "SK": KEY.sk, "GSI1PK": "x"}),
        encoded({"SK": KEY.sk, "PK": KEY.pk}),
        encoded(f'{{"PK": "{KEY.pk}", "SK": "{KEY.sk}"}}'),
        encoded(f'{{"PK":"{KEY.pk}","SK":"{KEY.sk}"}} '),
        encoded(f'{{"PK":"x","PK":"{KEY.pk}","SK":"{KEY.sk}"}}'),
        encoded(f'{{"PK":"{KEY.pk}","SK":"\\u0052{KEY.sk[1:]}"}}'),
        encoded({"PK": {"S": KEY.pk}, "SK": {"S": KEY.sk}}),
        encoded({"PK": [KEY.pk], "SK": [KEY.sk]}),
        encoded({"PK": KEY.pk, "SK": None}),
        encoded({"PK": KEY.pk, "SK": 5}),
        encoded({"PK": KEY.pk, "SK": True}),
    ],
)
def test_a_second_spelling_of_a_key_or_an_attribute_too_many_is_refused(cursor: str) -> None:
    assert refusal(cursor) == "This cursor belongs to another list."


def test_the_unused_bits_of_the_last_character_must_be_zero() -> None:
    key = keys.reservation(L1, NOON, ReservationId("r12"))
    cursor = encode_cursor(key)
    assert len(cursor) % 4 == 2
    assert decode_cursor(cursor, WITHIN, "after") == key
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    other = cursor[:-1] + alphabet[alphabet.index(cursor[-1]) + 1]
    assert base64.urlsafe_b64decode(other + "==") == base64.urlsafe_b64decode(cursor + "==")
    assert refusal(other) == "This cursor belongs to another list."


@pytest.mark.parametrize("reservation", ["r1", "r12", "r123"])
def test_a_cursor_has_no_padding(reservation: str) -> None:
    cursor = encode_cursor(keys.reservation(L1, NOON, ReservationId(reservation)))
    assert not cursor.endswith("=")
    assert all(refusal(cursor + "=" * count) for count in range(1, 5))


@pytest.mark.parametrize("rest", ["\ud800", "a" * 1025, "é" * 513])
def test_a_key_that_no_item_of_ours_can_have_is_refused_before_the_store_sees_it(rest: str) -> None:
    cursor = encode_cursor(Key("OWNER#acme", f"LOCKER#{rest}"))
    with pytest.raises(InvalidCursorError, match=r"^This cursor belongs to another list\.$"):
        decode_cursor(cursor, keys.owner_lockers(ACME), "after")


@given(st.text(max_size=200))
def test_any_text_is_a_good_cursor_or_a_clear_refusal(text: str) -> None:
    try:
        key = decode_cursor(text, WITHIN, "after")
    except InvalidCursorError:
        return
    assert encode_cursor(key) == text
