"""The request log: one line for each request."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from server.telemetry.observation import Observation

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
    """Logs the operation, result and cost of each request, and nothing of its content."""

    def watch(self, observation: Observation) -> Callable[[], None]:
        """Observes a request; returns the function to call at its end."""
        observation.wants_units = True
        return partial(self._finished, observation)

    def _finished(self, observation: Observation) -> None:
        if observation.is_page:
            return
        trace = observation.trace
        fields: dict[str, Any] = {
            "operation_type": observation.operation_type,
            "operation": observation.operation_name,
            "code": observation.code,
            "status": observation.status,
            "duration_ms": round(observation.duration / 1_000_000, 3),
            "operations": len(trace.records) if trace else 0,
            "read_units": trace.units(is_write=False) if trace else 0,
            "write_units": trace.units(is_write=True) if trace else 0,
        }
        logger.info("request", extra={name: value for name, value in fields.items() if value is not None})
