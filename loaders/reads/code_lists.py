"""The lists of access codes for the devices of doors, as a query shows them and an acknowledgement compares them."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import starmap
from typing import Any, TypeAlias, TypeGuard

from domain.access_codes import (
    GRACE,
    LIST_HORIZON,
    LIST_REFRESH,
    AccessCode,
    Basis,
    CodeDoor,
    CodeId,
    CodeList,
    ListedCode,
    device_mac,
    grace_end,
    is_listed,
    loaded_entry,
    validity_of,
)
from domain.errors import TooManyChangesError
from domain.models import Door, Reservation, ReservationId, locker_of
from domain.times import EARLIEST, Instant, shift
from loaders.backend import Backend
from loaders.codecs import Guard
from loaders.concurrency import together
from loaders.contracts.access_codes import ACKNOWLEDGE_ACCESS_CODES
from loaders.reads.live_reservations import MovedError, live_in
from loaders.table.client import Store
from loaders.table.retry import pause

_Lists: TypeAlias = dict[Door, CodeList | Exception | None]
_Parts: TypeAlias = dict[tuple[str, tuple[Any, ...]], Any]
"""Records, errors, and None for what does not exist, by the name of the read and the arguments of the key."""


async def read_code_lists(backend: Backend, names: Iterable[Door], permits: asyncio.Semaphore | None = None) -> _Lists:
    """The codes that the devices of doors must know; None where there is no device, and errors are values.

    `permits` bounds how many Queries run at the same time.
    """
    found: _Lists = {}
    moved = list(dict.fromkeys(names))
    for attempt in range(ACKNOWLEDGE_ACCESS_CODES.rounds):
        await pause(attempt)
        found |= await code_lists_once(backend, moved, permits)
        moved = [name for name in moved if isinstance(found[name], MovedError)]
        if not moved:
            break
    return found | dict.fromkeys(moved, TooManyChangesError("door"))


async def code_lists_once(backend: Backend, names: Sequence[Door], permits: asyncio.Semaphore | None = None) -> _Lists:
    """The same in one attempt: MovedError in the place of a list that has to be read again."""
    now, found = backend.clock(), await _read_parts(backend.store, names)

    async def make(name: Door) -> CodeList | Exception | None:
        try:
            return await _code_list(backend, found, name, now)
        except Exception as error:  # noqa: BLE001  # an error is a value here
            return error

    return dict(zip(names, await together(map(make, names), permits), strict=True))


async def _read_parts(store: Store, names: Sequence[Door]) -> _Parts:
    """The items that the lists of doors are made of.

    The revisions are read first, so that a list is never older than its revision.
    """
    read = partial(ACKNOWLEDGE_ACCESS_CODES.read_together, store, len(names))
    found = await read("door", [(name,) for name in names])
    doors = {name: door for (_, (name,)), door in found.items() if _has_device(door)}
    found |= await read("guard", [(locker_id,) for locker_id in map(locker_of, doors) if locker_id is not None])
    codes = await read("code", [(name, code_id) for name, door in doors.items() for code_id in _live_ids(door)])
    places: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for kind, place in (code.basis for code in codes.values() if isinstance(code, AccessCode)):
        places[kind].append(place)
    for bases in await together(starmap(read, places.items())):
        found |= bases
    return found | codes


async def _code_list(backend: Backend, found: _Parts, name: Door, now: Instant) -> CodeList | Exception | None:
    """The list of a door; None where there is no device."""
    door, locker_id = found["door", (name,)], locker_of(name)
    if not _has_device(door):
        return door if isinstance(door, Exception) else None
    guard = None if locker_id is None else found["guard", (locker_id,)]
    codes = [found["code", (name, code_id)] for code_id in _live_ids(door)]
    bases = [(code, found[code.basis]) for code in codes if isinstance(code, AccessCode)]
    for record in (guard, *codes, *(basis for _, basis in bases)):
        if isinstance(record, Exception):
            return record  # not raised: lists may share it, and its traceback would grow with each
    ring = backend.code_ring()
    key, horizon = ring.device_key(str(door.device_key_id), name, door.generation), shift(now, LIST_HORIZON)
    graces = await _graces(backend.store, [basis for _, basis in bases], guard, now)
    validities = [(code, validity_of(code, now, basis, graces.get(code.reservation_id))) for code, basis in bases]
    due = [(code, validity) for code, validity in validities if is_listed(code, validity, door, now)]
    listed = [
        ListedCode(
            code_id=code.code_id,
            rotation=code.rotation,
            digits_mac=device_mac(key, code.code_id, ring.digits(name, code)),
            valid_from=validity.valid_from or EARLIEST,
            valid_until=min(validity.valid_until or horizon, horizon),
            uses_left=None if code.max_uses is None else code.max_uses - code.uses,
        )
        for code, validity in due
    ]
    windows = [f"{loaded_entry(code)} {one.valid_from} {one.valid_until}" for code, one in due]
    content = hashlib.sha256("\n".join([str(door.generation), *windows]).encode()).hexdigest()[:12]
    return CodeList(
        door=door,
        revision=f"{0 if guard is None else guard.revision}.{door.revision}.{content}",
        generation=door.generation,
        refresh_before=shift(now, LIST_REFRESH),
        codes=tuple(listed),
    )


def _has_device(door: CodeDoor | Exception | None) -> TypeGuard[CodeDoor]:
    return isinstance(door, CodeDoor) and door.device_key_id is not None


def _live_ids(door: CodeDoor) -> list[CodeId]:
    return [CodeId(entry.partition(" ")[0]) for entry in door.live]


async def _graces(
    store: Store, bases: list[Basis | None], guard: Guard | None, now: Instant
) -> dict[ReservationId | None, Instant]:
    """The ends of the grace periods of reservations, as far as a list reaches."""
    first, last = shift(now, -GRACE), shift(now, LIST_HORIZON)
    ending = [one for one in bases if isinstance(one, Reservation) and first < one.end_at < last]
    if not ending:
        return {}
    ends = sorted(one.end_at for one in ending)
    within = (ending[0].locker_id, ends[0], shift(ends[-1], GRACE))
    live = await live_in(store, ACKNOWLEDGE_ACCESS_CODES, "next reservation", within, guard)
    starts = [None if guard is None else guard.released_start_at, *(one.start_at for one in live)]
    return {one.reservation_id: grace_end(one, starts) for one in ending}
