"""Log format: one formatter for all lines, also those of libraries, and tracebacks without values of clients."""

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import orjson

from domain.errors import InternalError
from server.settings import Settings
from server.telemetry.log_writer import LineWriter
from server.telemetry.observation import REQUEST_ID

# Other loggers are limited to warnings: at debug level, the SDK logs whole requests.
_OWN_LOGGERS = ("domain", "loaders", "resolvers", "server", "uvicorn")
_QUOTED = re.compile(r"[(<].*[)>]")


@contextmanager
def configured_logging(settings: Settings) -> Iterator[Callable[[str], None] | None]:
    """Logs to standard error while the block runs; yields what writes a line, if lines are JSON."""
    is_json = settings.log_format == "json" or (settings.log_format == "auto" and settings.profile == "production")
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    # No line shows its thread, process or source: not to look these up saves half of a line's time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  # documented by logging for this purpose
    handler = LineWriter(sys.stderr)
    handler.setFormatter(log_formatter(is_json=is_json))
    root = logging.getLogger()
    root.setLevel(max(level, logging.WARNING))
    for name in _OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
    root.addHandler(handler)
    try:
        yield handler.write if is_json else None
    finally:
        root.removeHandler(handler)
        handler.close()


def log_formatter(*, is_json: bool) -> logging.Formatter:
    return _JsonFormatter() if is_json else _ReadableFormatter()


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "event": _event(record),
            "level": record.levelname.lower(),
            "timestamp": datetime.fromtimestamp(record.created, UTC),
            "logger": record.name,
            **_fields(record),
        }
        exception = _exception(record)
        if exception is not None:
            line["exception"] = exception
        return json_line(line)


def json_line(line: dict[str, Any]) -> str:
    try:
        return orjson.dumps(line, option=orjson.OPT_UTC_Z).decode()
    except TypeError:  # half a surrogate pair, which is no text
        return json.dumps(line, default=_iso)


def _iso(value: Any) -> str:
    """The time of a line, as orjson has it."""
    text: str = value.isoformat().replace("+00:00", "Z")
    return text


class _ReadableFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        pairs = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        text = f"{record.levelname + ':':<10}{_event(record)} {pairs}".rstrip()
        exception = _exception(record)
        return text if exception is None else f"{text}\n{exception}"


def _event(record: logging.LogRecord) -> str:
    """The message. That of asyncio on an exception that was never retrieved quotes tasks with their arguments."""
    message = record.getMessage()
    return _QUOTED.sub("…", message.partition("\n")[0]) if record.name == "asyncio" else message


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    request_id = REQUEST_ID.get()
    return fields if request_id is None else fields | {"request_id": request_id}


def _exception(record: logging.LogRecord) -> str | None:
    error = record.exc_info[1] if record.exc_info else None
    return None if error is None else format_traceback(error)


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
