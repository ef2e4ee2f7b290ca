"""Tracebacks for the log, without values that a client sent."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

from domain.errors import InternalError


def format_traceback(error: BaseException) -> str:
    """The traceback of an exception with its causes and parts, without messages that may quote a value."""
    return "\n".join(_lines(error, set()))


def _lines(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    earlier = error.__context__ if error.__cause__ is None and not error.__suppress_context__ else error.__cause__
    if earlier is not None and id(earlier) not in seen:
        yield from _lines(earlier, seen)
        yield "The exception above caused:"
    yield "Traceback (most recent call last):"
    yield from (part.rstrip() for part in traceback.format_tb(error.__traceback__))
    yield _name(error) + _message(error)
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            if id(part) not in seen:
                yield "Part of the group:"
                yield from _lines(part, seen)


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    """Only messages that quote no data: any other may contain a value, an id or a whole request."""
    match error:
        case InternalError():
            return f": {error.log_text}"
        case OSError(strerror=str() as reason):
            return f": {reason}"
        case _:
            return ""
