"""The state of the table as a server knows it: whether the table has the format of this version now.

A server reads the state every few seconds, outside of requests, and relies on what it has read for a while only. So
a migration that marks the table knows when the last server has stopped serving it, also one that cannot
reach the store.
"""

import logging
from collections.abc import Callable

from domain.errors import UnavailableError
from loaders.codecs import TableState
from loaders.contracts.table_state import FORMAT_VERSION, STATE_OF_TABLE
from loaders.table.client import Store
from loaders.table.clock import machine_timer

logger = logging.getLogger(__name__)

READ_SECONDS = 5
"""How old the state that a server knows may get before it reads it again."""
VALID_SECONDS = 15
"""How long a server relies on it. Longer than the store may stall before the server counts it as down."""

FIRST_STATE = TableState(format_version=1, revision=0)
"""The state of a table without a state item."""

_UNKNOWN = "The state of the table cannot be read: try again later."


def refusal(state: TableState) -> str | None:
    """Why a table in this state cannot be used by this version; None if it can."""
    if max(state.format_version, state.migrating_to or 0) > FORMAT_VERSION:
        return "The table has a newer format: a newer version of SmartLocker is needed."
    if state.migrating_to is not None:
        return "The table is being migrated: wait until `smartlocker migrate` has ended, or run it again."
    if state.format_version < FORMAT_VERSION:
        return "The table is not migrated yet: run `smartlocker migrate`."
    return None


class TableWatch:
    """The state of the table as a server last read it, and how long the server may rely on it."""

    def __init__(self, clock: Callable[[], float] = machine_timer) -> None:
        self._clock = clock
        self._sent_at = float("-inf")
        self._refusal: str | None = None
        self.is_read_only = False
        """Whether changes are refused."""
        self._logged: tuple[str | None, bool] = (None, False)

    @property
    def refusal(self) -> str | None:
        """Why requests are refused now; None if they are not."""
        return self._refusal if self._clock() - self._sent_at < VALID_SECONDS else _UNKNOWN

    @property
    def is_due(self) -> bool:
        return self._clock() - self._sent_at >= READ_SECONDS

    def require_current(self) -> None:
        """Refuses a request while the table cannot be used."""
        reason = self.refusal
        if reason is not None:
            raise UnavailableError(reason)

    async def read(self, store: Store) -> None:
        """Reads the state; it holds from the moment when the read was sent."""
        sent_at = self._clock()
        state = await STATE_OF_TABLE.read(store) or FIRST_STATE
        self._sent_at, self._refusal, self.is_read_only = sent_at, refusal(state), state.is_read_only

    def log(self) -> None:
        reason, (logged, was_read_only) = self.refusal, self._logged
        self._logged = reason, self.is_read_only
        if reason != logged:
            if reason is None:
                logger.warning("the table has this version's format: requests are served again")
            else:
                logger.error("all requests are refused: %s", reason)
        if self.is_read_only != was_read_only:
            logger.warning(
                "changes are %s", "refused: the table is read-only" if self.is_read_only else "accepted again"
            )
