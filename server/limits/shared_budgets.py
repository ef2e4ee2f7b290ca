"""Rate limits of a server with several workers: the budget of each caller, in memory that the workers share."""

import fcntl
import mmap
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import Final

from domain.budgets import NO_OTHERS, Budget, BudgetState, account_of

_ENTRY: Final = struct.Struct("16sq")
"""The digest of a caller, and when its budget is full."""
_GROUP_BYTES: Final = 16 * _ENTRY.size
_GROUPS: Final = 1024


@contextmanager
def budget_memory() -> Iterator[int]:
    """The memory for budgets: a file without a name, which exists while the block runs. Yields its descriptor."""
    with TemporaryFile() as file:
        file.truncate(_GROUPS * _GROUP_BYTES)
        yield file.fileno()


class SharedBudgets:
    """Budgets that all workers charge.

    A caller has its entry in the group that its digest names. If the group has no entry left, the budget that is full
    first is dropped: an entry whose budget is full says the same as no entry. `now` returns microseconds since 1970.
    """

    def __init__(
        self, file: int, usual: Budget, now: Callable[[], int], others: Mapping[str, Budget] = NO_OTHERS
    ) -> None:
        self._file = file
        self._memory = mmap.mmap(file, _GROUPS * _GROUP_BYTES)
        self._usual = usual
        self._now = now
        self._others = others

    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        account, budget = account_of(caller, self._usual, self._others)
        digest = blake2b(account.encode(), digest_size=16).digest()
        group = int.from_bytes(digest[:4]) % _GROUPS * _GROUP_BYTES
        # The lock is held for microseconds, and the system releases it if a worker dies.
        fcntl.lockf(self._file, fcntl.LOCK_EX, _GROUP_BYTES, group)
        try:
            entry = self._memory.find(digest, group, group + _GROUP_BYTES)
            if entry < 0:
                entry, full_at = self._least_used(group), 0
            else:
                _, full_at = _ENTRY.unpack_from(self._memory, entry)
            full_at, state = budget.charge(full_at, self._now(), units, taken, may_owe=may_owe)
            self._memory[entry : entry + _ENTRY.size] = _ENTRY.pack(digest, full_at)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _GROUP_BYTES, group)
        return state

    def _least_used(self, group: int) -> int:
        entries = range(group, group + _GROUP_BYTES, _ENTRY.size)
        return min(entries, key=lambda entry: _ENTRY.unpack_from(self._memory, entry)[1])
