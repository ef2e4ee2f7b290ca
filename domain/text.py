"""Validation of text values: names, email addresses, phone numbers, currencies and time zones.

Each function returns the canonical value or raises ValueError with a message for the client.
"""

import re
import unicodedata
from functools import cache
from zoneinfo import available_timezones

from domain.currencies import CURRENCIES
from domain.ids import matching

_MAX_NAME_LENGTH = 200
_MAX_TEXT_LENGTH = 2000
_MAX_EMAIL_LENGTH = 254
_EMAIL = re.compile(r"[!-?A-~]{1,64}@[!-?A-~]+\.[!-?A-~]+")  # printable ASCII without spaces, one @
_phone = matching(r"\+?[0-9][0-9 ()./-]{4,29}", "must be a phone number such as +39 123 456 7890")
_reference = matching(r"[ -~]{1,64}", "must have 1 to 64 printable ASCII characters")
_PHONE_SIGNS = frozenset({"Zs", "Pd", "Ps", "Pe", "Cf"})  # spaces, dashes, brackets, and what is not seen
_BEFORE_DIGITS = re.compile(r"^-*(\+?)-*")
_CONTROL_CATEGORIES = frozenset({"Cc", "Zl", "Zp"})  # control characters, line and paragraph separators


def check_name(value: str) -> str:
    """Trims and checks a single-line text."""
    name = value.strip()
    if not 1 <= len(name) <= _MAX_NAME_LENGTH:
        raise ValueError(f"must have 1 to {_MAX_NAME_LENGTH} characters")
    if any(unicodedata.category(char) in _CONTROL_CATEGORIES for char in name):
        raise ValueError("must not contain control characters")
    return check_encodable(name)


def check_text(value: str) -> str:
    """Trims and checks a text that may have several lines."""
    text = value.strip()
    if not 1 <= len(text) <= _MAX_TEXT_LENGTH:
        raise ValueError(f"must have 1 to {_MAX_TEXT_LENGTH} characters")
    if any(unicodedata.category(char) == "Cc" and char not in "\n\r\t" for char in text):
        raise ValueError("must not contain control characters")
    return check_encodable(text)


def check_email(value: str) -> str:
    """Trims and checks an email address; upper and lower case are kept."""
    email = value.strip()
    if len(email) > _MAX_EMAIL_LENGTH or _EMAIL.fullmatch(email) is None:
        raise ValueError("must be an email address such as ada@example.com")
    return email


def normalize_email(email: str) -> str:
    """Returns the form in which email addresses are compared."""
    return email.lower()


def check_phone(value: str) -> str:
    return _phone(value.strip())


def check_sought_phone(value: str) -> str:
    """Checks a phone number that is looked for, as people write and copy it; returns it as it could be stored."""
    written = value.strip().lower().removeprefix("tel:")
    plain = "".join("-" if unicodedata.category(char) in _PHONE_SIGNS else char for char in written)
    return _phone(_BEFORE_DIGITS.sub(r"\1", plain))


def normalize_phone(phone: str) -> str:
    """Returns the form in which phone numbers are compared: digits, after a plus if it is an international number."""
    digits = "".join(char for char in phone if char.isdigit())
    is_international = phone.startswith("+") or digits.startswith("00")
    return f"+{digits.removeprefix('00')}" if is_international else digits


def phone_digits(phone: str) -> str:
    """Returns the digits by which a phone number is found; of an international one with those of the country."""
    return normalize_phone(phone).removeprefix("+") or "0"


def fold_name(name: str) -> str:
    """Returns the form in which names are sorted and searched: without upper case, accents and repeated spaces.

    A name that has nothing else keeps its accents. Never longer than a name, and never with two spaces in a row.
    """
    whole = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    plain = "".join(char for char in whole if not unicodedata.combining(char))
    words = plain.split() or whole.split()
    return unicodedata.normalize("NFKC", " ".join(words))[:_MAX_NAME_LENGTH].rstrip()


def check_reference(value: str) -> str:
    """Trims and checks the number by which a partner knows a reservation."""
    return _reference(value.strip())


def check_currency(value: str) -> str:
    if value not in CURRENCIES:
        raise ValueError("must be the ISO 4217 code of a currency in use, such as EUR")
    return value


def check_time_zone(value: str) -> str:
    if value not in _time_zones():
        raise ValueError("must be an IANA time zone such as Europe/Rome")
    return value


def check_encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain unpaired surrogates") from None
    return text


@cache
def _time_zones() -> frozenset[str]:
    # Cached because it is read from disk. "localtime" depends on the host, "Factory" is a placeholder.
    return frozenset(available_timezones()) - {"localtime", "Factory"}
