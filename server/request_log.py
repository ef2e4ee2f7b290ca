"""A line of the log for every request."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from server.observation import Observation

__all__ = ["FIELDS", "RequestLog"]

logger = logging.getLogger(__name__)

FIELDS = (
    "operation_type",
    "operation",
    "code",
    "status",
    "duration_ms",
    "operations",
    "read_units",
    "write_units",
)


class RequestLog:
    """Says what each request was and what it took, and nothing of what is in it."""

    def watch(self, observation: Observation) -> Callable[[], None]:
        """Writes the line when the request has ended."""
        observation.wants_units = True
        return partial(self._ended, observation)

    def _ended(self, observation: Observation) -> None:
        if observation.is_page:
            return
        trace = observation.trace
        told: dict[str, Any] = {
            "operation_type": observation.operation_type,
            "operation": observation.operation_name,
            "code": observation.code,
            "status": observation.status,
            "duration_ms": round(observation.duration / 1_000_000, 3),
            "operations": len(trace.records) if trace else 0,
            "read_units": trace.units(is_write=False) if trace else 0,
            "write_units": trace.units(is_write=True) if trace else 0,
        }
        logger.info("request", extra={name: value for name, value in told.items() if value is not None})
