"""Log format: one formatter for all lines, also those of libraries."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog

from server.telemetry.observation import REQUEST_ID
from server.telemetry.request_log import FIELDS
from server.telemetry.tracebacks import format_traceback

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from server.settings import Settings

__all__ = ["configured_logging", "log_formatter"]

# Other loggers are limited to warnings: at debug level, the SDK logs whole requests.
_OWN_LOGGERS = ("domain", "loaders", "resolvers", "server", "uvicorn")
_QUOTED = re.compile(r"[(<].*[)>]")


@contextmanager
def configured_logging(settings: Settings) -> Iterator[None]:
    """Logs to standard error, as configured, while the block runs."""
    is_json = settings.log_format == "json" or (settings.log_format == "auto" and settings.profile == "production")
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    handler = logging.StreamHandler()
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


def log_formatter(*, is_json: bool) -> logging.Formatter:
    """The formatter of log lines."""
    more: list[Any] = [structlog.processors.TimeStamper(fmt="iso"), structlog.stdlib.add_logger_name] if is_json else []
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            *more,
            structlog.stdlib.ExtraAdder(FIELDS),
            _add_request_id,
            _shorten_asyncio,
            _add_traceback,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer() if is_json else _readable,
        ],
    )


def _add_request_id(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    request_id = REQUEST_ID.get()
    if request_id is not None:
        line["request_id"] = request_id
    return line


def _shorten_asyncio(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Shortens asyncio's lines on exceptions that were never retrieved: these quote tasks with their arguments."""
    if line["_record"].name == "asyncio":
        line["event"] = _QUOTED.sub("…", line["event"].partition("\n")[0])
    return line


def _add_traceback(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    _, error, _ = line.pop("exc_info", None) or (None, None, None)
    if error is not None:
        line["exception"] = format_traceback(error)
    return line


def _readable(_: Any, __: str, line: MutableMapping[str, Any]) -> str:
    level, event, exception = line.pop("level"), line.pop("event"), line.pop("exception", None)
    pairs = " ".join(f"{name}={value}" for name, value in line.items())
    text = f"{level.upper() + ':':<10}{event} {pairs}".rstrip()
    return text if exception is None else f"{text}\n{exception}"
