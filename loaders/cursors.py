"""The cursor contract: base64url of the key of the last item returned, nothing else, decoded strictly.

A cursor is checked against the range of the query that it is given to. The embedded store would accept a foreign one
silently, and DynamoDB would answer with a ValidationException that says nothing to a client.
"""

import base64
import binascii
import json

from domain.errors import InvalidCursorError
from loaders.table.positions import KeyRange, Position

_PART_LONGEST = 1024


def encode_cursor(key: Position) -> str:
    text = json.dumps({name: value["S"] for name, value in key.wire.items()}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, within: KeyRange, argument: str) -> Position:
    """The key that a cursor of this range names.

    Raises:
        InvalidCursorError: for anything but a cursor that `encode_cursor` made of a key in this range.
    """
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        content = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        key = within.position({name: {"S": value} for name, value in content.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error):
        raise InvalidCursorError("This is not a cursor of this API.", (argument,)) from None
    # Encoding it again shows, at once, an attribute too many, spaces or a second spelling.
    if not all(map(_may_be_ours, key)) or encode_cursor(key) != cursor or key not in within:
        raise InvalidCursorError("This cursor belongs to another list.", (argument,))
    return key


def _may_be_ours(part: object) -> bool:
    """Half a surrogate pair, or a key that is empty or too long, a store would refuse in words of its own."""
    try:
        return isinstance(part, str) and 1 <= len(part.encode()) <= _PART_LONGEST
    except UnicodeEncodeError:
        return False
