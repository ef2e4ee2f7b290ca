"""Live reservations of a locker, read strongly consistent and compared with the guard that was read before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.models import LockerId, Reservation, ReservationId
from loaders import keys
from loaders.codecs import Guard, StoredReservation
from loaders.contracts.writing import WriteContract
from loaders.table.client import Store
from loaders.table.positions import Position

if TYPE_CHECKING:
    from loaders.table.operations import Query


class MovedError(Exception):
    """A concurrent write is only partly visible: everything must be read again.

    `last_change` is the locker whose last change is not visible, and the revision of its guard, 0 if there is none.
    """

    def __init__(self, last_change: tuple[LockerId, int] | None = None) -> None:
        super().__init__()
        self.last_change = last_change


async def live_in(
    store: Store,
    contract: WriteContract,
    name: str,
    arguments: tuple[Any, ...],
    guard: Guard | None,
    *,
    but: ReservationId | None = None,
) -> list[Reservation]:
    """The first live reservations of a declared range, as many as its Limit.

    The guard, read before, names the last change. The items of a transaction become visible one by one, so the guard's
    new revision may be visible before the live copy is: then what was read is older than the guard, and MovedError is
    raised. The copy of the reservation that this write changes does not matter: its record decides.
    """
    operation = contract.range_operation(name, *arguments)
    found: list[tuple[Position, StoredReservation]] = []
    async for entry in contract.read_range(store, name, *arguments):
        found.append(entry)
        if len(found) == operation.limit:
            break
    if guard is not None and guard.changed_reservation_id != but and _is_older(operation, found, arguments[0], guard):
        raise MovedError((arguments[0], guard.revision))
    return [stored.reservation for _, stored in found]


def _is_older(
    operation: Query, found: list[tuple[Position, StoredReservation]], locker_id: LockerId, guard: Guard
) -> bool:
    """Whether what was read does not show the last change that the guard names."""
    if guard.changed_start_at is None or guard.changed_reservation_id is None or guard.changed_revision is None:
        return False
    changed = keys.live_reservation(locker_id, guard.changed_start_at, guard.changed_reservation_id)
    seen = next((stored for key, stored in found if key == changed), None)
    if guard.changed_removed:
        return seen is not None
    if seen is not None:
        return (seen.revision or 0) < guard.changed_revision
    if changed not in operation.within:
        return False
    if len(found) < operation.limit:
        return True
    last = found[-1][0].sk
    return changed.sk < last if operation.forward else changed.sk > last
