"""The log of the process: one renderer for every line, ours and those of libraries."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog

from server.observation import REQUEST_ID
from server.request_log import FIELDS
from server.tracebacks import traceback_of

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from server.settings import Settings

__all__ = ["formatter", "logging_as"]

# All others may say only what is wrong: debugging, the SDK writes out whole requests.
_OURS = ("domain", "loaders", "resolvers", "server", "uvicorn")
_QUOTED = re.compile(r"[(<].*[)>]")


@contextmanager
def logging_as(settings: Settings) -> Iterator[None]:
    """The log goes to the standard error, as the settings have it, while the block runs."""
    is_json = settings.log_format == "json" or (settings.log_format == "auto" and settings.profile == "production")
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(is_json=is_json))
    root = logging.getLogger()
    root.setLevel(max(level, logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def formatter(*, is_json: bool) -> logging.Formatter:
    """Renders a line."""
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
    """Of a failure that nobody waited for asyncio writes out all that it has: tasks and arguments, values included."""
    if line["_record"].name == "asyncio":
        line["event"] = _QUOTED.sub("…", line["event"].partition("\n")[0])
    return line


def _add_traceback(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    _, error, _ = line.pop("exc_info", None) or (None, None, None)
    if error is not None:
        line["exception"] = traceback_of(error)
    return line


def _readable(_: Any, __: str, line: MutableMapping[str, Any]) -> str:
    level, event, exception = line.pop("level"), line.pop("event"), line.pop("exception", None)
    pairs = " ".join(f"{name}={value}" for name, value in line.items())
    text = f"{level.upper() + ':':<10}{event} {pairs}".rstrip()
    return text if exception is None else f"{text}\n{exception}"
