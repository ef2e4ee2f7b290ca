"""Codes, ULIDs, telephone numbers, currencies, time zones and longer texts: what is taken, and what is refused."""

from __future__ import annotations

import string
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from domain import text
from domain.text import check_code, check_currency, check_phone, check_text, check_time_zone, check_ulid

CODE_CHARACTERS = string.ascii_lowercase + string.digits + "-"


@pytest.mark.parametrize("code", ["abc", "123", "---", "roma-termini-1", "a" * 40])
def test_a_code_of_the_allowed_characters_is_kept(code: str) -> None:
    assert check_code(code) == code


@pytest.mark.parametrize(
    "code", ["", "ab", "a" * 41, "Abc", "a_b", "a b", " abc", "abc\n", "a#b", "a~b", "a/b", "äbc", "\u0661\u0662\u0663"]
)
def test_a_code_of_anything_else_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match=r"^must be 3 to 40 characters of a-z, 0-9 and -$"):
        check_code(code)


@given(st.text(CODE_CHARACTERS + "A_#~ ", max_size=45))
def test_a_code_is_taken_exactly_if_each_of_its_characters_is_allowed(code: str) -> None:
    try:
        taken = check_code(code) == code
    except ValueError:
        taken = False
    assert taken == (3 <= len(code) <= 40 and all(char in CODE_CHARACTERS for char in code))


@pytest.mark.parametrize("ulid", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "0" * 26, "7" + "Z" * 25])
def test_a_ulid_is_kept(ulid: str) -> None:
    assert check_ulid(ulid) == ulid


def test_what_makes_ids_here_makes_ulids() -> None:
    assert check_ulid(str(ULID()))


@pytest.mark.parametrize(
    "ulid",
    [
        "",
        "0" * 25,
        "0" * 27,
        "8" + "0" * 25,  # more than 128 bits
        "01arz3ndektsv4rrffq69g5fav",
        "01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "01ARZ3NDEKTSV4RRFFQ69G5FAL",
        "01ARZ3NDEKTSV4RRFFQ69G5FAO",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "01ARZ3NDEKTSV4RRFFQ69G5FA#",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
        " 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "\u0660" * 26,
    ],
)
def test_what_is_no_ulid_is_refused(ulid: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a ULID such as 01ARZ3NDEKTSV4RRFFQ69G5FAV$"):
        check_ulid(ulid)


@pytest.mark.parametrize(
    ("value", "phone"),
    [
        ("+39 123 456 7890", "+39 123 456 7890"),
        ("  030/1234567 ", "030/1234567"),
        ("+1 (555) 010-9999", "+1 (555) 010-9999"),
        ("1.800.555", "1.800.555"),
        ("11234", "11234"),
        ("+" + "1" * 30, "+" + "1" * 30),
    ],
)
def test_a_telephone_number_is_trimmed_and_otherwise_kept(value: str, phone: str) -> None:
    assert check_phone(value) == phone


@pytest.mark.parametrize(
    "value",
    [
        "",
        "+",
        "1234",
        "+1234",
        "1" * 31,
        "+" + "1" * 31,
        "++39 123 456",
        "39+123456",
        "12345x",
        "12345\n6",
        "\u0661" * 6,
    ],
)
def test_what_is_no_telephone_number_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a telephone number such as \+39 123 456 7890$"):
        check_phone(value)


@pytest.mark.parametrize("currency", ["EUR", "USD", "XAU"])
def test_a_currency_of_three_capitals_is_kept(currency: str) -> None:
    assert check_currency(currency) == currency


@pytest.mark.parametrize("currency", ["", "EU", "EURO", "eur", "EU1", " EUR", "EUR\n", "ÄÖÜ", "€"])
def test_a_currency_of_another_form_is_refused(currency: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a currency of three letters such as EUR$"):
        check_currency(currency)


@pytest.mark.parametrize(
    "zone", ["Europe/Rome", "UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/Argentina/ComodRivadavia"]
)
def test_a_time_zone_that_is_known_is_kept(zone: str) -> None:
    assert check_time_zone(zone) == zone
    assert ZoneInfo(zone)


@pytest.mark.parametrize(
    "zone",
    [
        "",
        "europe/rome",
        "Europe/Roma",
        "Rome",
        "+02:00",
        "UTC+2",
        " UTC",
        "UTC\n",
        "../etc/passwd",
        "/etc/localtime",
        "posix/Europe/Rome",
        "localtime",  # the host's own, whatever that is
        "Factory",
        "\x00",
        "\ud800",
    ],
)
def test_a_time_zone_that_is_not_known_is_refused(zone: str) -> None:
    with pytest.raises(ValueError, match=r"^must be an IANA time zone such as Europe/Rome$"):
        check_time_zone(zone)


def test_the_time_zones_are_read_from_disk_once(monkeypatch: pytest.MonkeyPatch) -> None:
    check_time_zone("UTC")

    def read_again() -> set[str]:
        raise AssertionError("the time zones were read again")

    monkeypatch.setattr(text, "available_timezones", read_again)
    assert check_time_zone("Europe/Rome") == "Europe/Rome"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("A fair", "A fair"),
        ("  A fair\nwith a band\r\n\tand cake \n", "A fair\nwith a band\r\n\tand cake"),
        ("x" * 2000, "x" * 2000),
        (" " + "😀" * 2000 + " ", "😀" * 2000),
        ("one\u2028two", "one\u2028two"),
        ("# ~", "# ~"),
    ],
)
def test_a_text_may_have_lines_and_is_trimmed(value: str, kept: str) -> None:
    assert check_text(value) == kept


@pytest.mark.parametrize("value", ["", " ", "\n\t\r\n", "x" * 2001])
def test_a_text_is_neither_empty_nor_endless(value: str) -> None:
    with pytest.raises(ValueError, match=r"^must have 1 to 2000 characters$"):
        check_text(value)


@pytest.mark.parametrize("char", ["\x00", "\x07", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x85", "\x9f"])
def test_a_text_has_no_control_characters_but_those_of_its_lines(char: str) -> None:
    with pytest.raises(ValueError, match=r"^must not contain control characters$"):
        check_text(f"a{char}b")


@pytest.mark.parametrize("value", ["a\ud800", "\udfffb"])
def test_a_text_has_no_half_of_a_surrogate_pair(value: str) -> None:
    with pytest.raises(ValueError, match=r"^must not contain half of a surrogate pair$"):
        check_text(value)


@given(st.text(min_size=1, max_size=50))
def test_a_text_that_is_taken_has_a_first_line_with_something_on_it(value: str) -> None:
    try:
        kept = check_text(value)
    except ValueError:
        return
    assert kept.splitlines()[0].strip()
