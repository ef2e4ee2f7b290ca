"""Tracebacks as the log has them: where something failed and how, and nothing that a client sent."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from domain.errors import FaultError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["traceback_of"]


def traceback_of(error: BaseException) -> str:
    """The error, what led to it and what it is made of, without messages that may quote a value."""
    return "\n".join(_lines(error, set()))


def _lines(error: BaseException, told: set[int]) -> Iterator[str]:
    told.add(id(error))
    earlier = error.__context__ if error.__cause__ is None and not error.__suppress_context__ else error.__cause__
    if earlier is not None and id(earlier) not in told:
        yield from _lines(earlier, told)
        yield "which led to:"
    yield "Traceback (most recent call last):"
    yield from (part.rstrip() for part in traceback.format_tb(error.__traceback__))
    yield _name(error) + _message(error)
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            if id(part) not in told:
                yield "of which:"
                yield from _lines(part, told)


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    """Only what is known to quote nothing: any other message may hold a value, an id or a whole request."""
    match error:
        case FaultError():
            return f": {error.log_text}"
        case OSError(strerror=str() as reason):
            return f": {reason}"
        case _:
            return ""
