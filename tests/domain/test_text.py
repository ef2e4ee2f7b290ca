"""Ids, names and e-mail addresses: what is taken, what is refused, and in which words."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import BadInputError
from domain.text import check_email, check_id, check_name, normalised_email, require_id

ID_CHARACTERS = string.ascii_letters + string.digits + "_-"


@pytest.mark.parametrize("value", ["a", "Z", "0", "_", "-", "x" * 64, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "META", "ACTIVE"])
def test_an_id_of_the_allowed_characters_is_kept_as_it_is(value: str) -> None:
    assert check_id(value) == value


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x" * 65,
        "a#b",
        "#",
        "a~b",
        "a b",
        " a",
        "a\n",
        "\na",
        "a.b",
        "a/b",
        "a@b",
        "é",
        "\u0661",  # a digit, but not an ASCII one
        "\u212a",  # the Kelvin sign, which lower() would make a k
        "\ud800",
        "\x00",
    ],
)
def test_an_id_of_anything_else_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"^must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -$"):
        check_id(value)


@given(st.text(max_size=70))
def test_an_id_is_taken_exactly_if_each_of_its_characters_is_allowed(value: str) -> None:
    try:
        taken = check_id(value) == value
    except ValueError:
        taken = False
    assert taken == (1 <= len(value) <= 64 and all(char in ID_CHARACTERS for char in value))


def test_an_id_in_an_argument_is_refused_by_the_arguments_name() -> None:
    with pytest.raises(BadInputError) as refusal:
        require_id("a#b", "lockerId")
    assert refusal.value.message == "lockerId must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
    assert refusal.value.path == ("lockerId",)
    assert refusal.value.code == "BAD_USER_INPUT"
    assert refusal.value.status == 400


def test_a_good_id_in_an_argument_is_kept() -> None:
    assert require_id("l-1", "lockerId") == "l-1"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("A", "A"),
        ("  Hall 3  ", "Hall 3"),
        ("\tHall 3\n", "Hall 3"),
        ("Grüße, 日本語", "Grüße, 日本語"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("x" * 200, "x" * 200),
        (" " + "😀" * 200 + " ", "😀" * 200),
        ("a # b ~ c", "a # b ~ c"),
    ],
)
def test_a_name_is_trimmed_and_otherwise_kept(value: str, name: str) -> None:
    assert check_name(value) == name


@pytest.mark.parametrize("value", ["", " ", "\n\t ", "x" * 201])
def test_a_name_is_neither_empty_nor_endless(value: str) -> None:
    with pytest.raises(ValueError, match=r"^must have 1 to 200 characters$"):
        check_name(value)


@pytest.mark.parametrize("char", ["\n", "\r", "\t", "\x00", "\x1f", "\x7f", "\x85", "\x9f", "\u2028", "\u2029"])
def test_a_name_has_one_line_and_no_control_characters(char: str) -> None:
    with pytest.raises(ValueError, match=r"^must not contain control characters$"):
        check_name(f"a{char}b")


@pytest.mark.parametrize("name", ["a\ud800", "\udfffb"])
def test_a_name_has_no_half_of_a_surrogate_pair(name: str) -> None:
    with pytest.raises(ValueError, match=r"^must not contain half of a surrogate pair$"):
        check_name(name)


@pytest.mark.parametrize(
    ("value", "email"),
    [
        ("ada@example.com", "ada@example.com"),
        ("  Ada.Lovelace+1@Example.COM ", "Ada.Lovelace+1@Example.COM"),
        ("a#b@c.d", "a#b@c.d"),
        ("a" * 64 + "@b.cd", "a" * 64 + "@b.cd"),
        ("a@" + "b" * 249 + ".cd", "a@" + "b" * 249 + ".cd"),
    ],
)
def test_an_email_address_is_trimmed_and_otherwise_kept(value: str, email: str) -> None:
    assert check_email(value) == email


@pytest.mark.parametrize(
    "value",
    [
        "",
        "ada",
        "@example.com",
        "ada@",
        "ada@example",
        "ada@.",
        "a@b@c.de",
        "a b@c.de",
        "a@b c.de",
        "ada@example.com\nx",
        "dä@example.com",
        "ada@exämple.com",
        "a" * 65 + "@b.cd",
        "a@" + "b" * 250 + ".cd",
        "\ud800@b.cd",
        "a\x00@b.cd",
    ],
)
def test_an_email_address_of_another_form_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"^must be an e-mail address such as ada@example\.com$"):
        check_email(value)


def test_two_spellings_of_one_email_address_are_the_same_when_normalised() -> None:
    assert normalised_email("Ada@Example.COM") == normalised_email("aDA@eXAMPLE.com") == "ada@example.com"
