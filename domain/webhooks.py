"""Webhooks: endpoints that are told what happens, and the deliveries to them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one attempt to deliver. If it has no status there was none, and `error` says why in a word.

    Nothing of what the other side wrote is in it.
    """

    status: int | None
    milliseconds: int
    retry_after: int | None = None
    """Seconds that the other side asks to wait."""
    error: str | None = None

    @property
    def is_success(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status < 300  # noqa: PLR2004  # of HTTP
