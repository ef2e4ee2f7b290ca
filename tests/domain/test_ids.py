import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import BadInputError
from domain.ids import check_code, check_id, check_ulid, require_id

ID_MESSAGE = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
RULES: dict[Callable[[str], str], str] = {
    check_id: ID_MESSAGE,
    check_code: "must be 3 to 40 characters of a-z, 0-9 and -",
    check_ulid: "must be a ULID such as 01ARZ3NDEKTSV4RRFFQ69G5FAV",
}
VALID: dict[Callable[[str], str], list[str]] = {
    check_id: ["a", "Z", "0", "_", "-", "x" * 64, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "META", "ACTIVE"],
    check_code: ["abc", "123", "---", "roma-termini-1", "a" * 40],
    check_ulid: ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "0" * 26, "7" + "Z" * 25],
}
INVALID: dict[Callable[[str], str], list[str]] = {
    check_id: [
        *["", "x" * 65, "a#b", "#", "a~b", "a b", " a", "a\n", "\na", "a.b", "a/b", "a@b", "é", "\ud800", "\x00"],
        "\u0661",  # a digit outside ASCII
        "\u212a",  # the Kelvin sign, whose lower case is an ASCII k
    ],
    check_code: [
        *["", "ab", "a" * 41, "Abc", "a_b", "a b", " abc", "abc\n", "a#b", "a~b", "a/b", "äbc", "\u0661\u0662\u0663"]
    ],
    check_ulid: [
        *["", "0" * 25, "0" * 27, "01arz3ndektsv4rrffq69g5fav", "\u0660" * 26],
        "8" + "0" * 25,  # more than 128 bits
        *[f"01ARZ3NDEKTSV4RRFFQ69G5FA{char}" for char in "ILOU#"],
        *["01ARZ3NDEKTSV4RRFFQ69G5FAV\n", " 01ARZ3NDEKTSV4RRFFQ69G5FAV"],
    ],
}


@pytest.mark.parametrize(("check", "value"), [(check, value) for check, values in VALID.items() for value in values])
def test_a_valid_value_is_returned_unchanged(check: Callable[[str], str], value: str) -> None:
    assert check(value) == value


@pytest.mark.parametrize(("check", "value"), [(check, value) for check, values in INVALID.items() for value in values])
def test_an_invalid_value_is_rejected(check: Callable[[str], str], value: str) -> None:
    with pytest.raises(ValueError, match=rf"^{RULES[check]}$"):
        check(value)


@given(st.text(max_size=70) | st.text(string.ascii_letters + string.digits + "-_#~ ", max_size=70))
def test_only_the_allowed_characters_and_lengths_are_accepted(value: str) -> None:
    lower, upper = string.ascii_lowercase + string.digits + "-", string.ascii_uppercase + "_"
    assert accepts(check_id, value) == (1 <= len(value) <= 64 and set(value) <= set(lower + upper))
    assert accepts(check_code, value) == (3 <= len(value) <= 40 and set(value) <= set(lower))


def accepts(check: Callable[[str], str], value: str) -> bool:
    try:
        return check(value) == value
    except ValueError:
        return False


def test_an_invalid_id_in_an_argument_is_reported_at_the_argument() -> None:
    assert require_id("l-1", "lockerId") == "l-1"
    with pytest.raises(BadInputError) as error:
        require_id("a#b", "lockerId")
    assert (error.value.message, error.value.path) == (f"lockerId {ID_MESSAGE}", ("lockerId",))
