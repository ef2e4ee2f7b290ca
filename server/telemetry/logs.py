"""Log format: one formatter for all lines, also those of libraries."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import orjson

from server.settings import Settings
from server.telemetry.log_writer import LineWriter
from server.telemetry.observation import REQUEST_ID
from server.telemetry.tracebacks import format_traceback

# Other loggers are limited to warnings: at debug level, the SDK logs whole requests.
_OWN_LOGGERS = ("domain", "loaders", "resolvers", "server", "uvicorn")
_QUOTED = re.compile(r"[(<].*[)>]")


@contextmanager
def configured_logging(settings: Settings) -> Iterator[None]:
    """Logs to standard error, as configured, while the block runs."""
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
        yield
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
