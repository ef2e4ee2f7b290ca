"""A clock that tests can set, in development: the store's time, and how far it is ahead of that."""

import json
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from domain.times import Instant, parse_instant, shift, to_datetime
from loaders.table.clock import StoreClock
from server.auth.development import is_from_own_page

_FURTHEST: Final = timedelta(days=3650)


class MovableClock:
    """Tells rules the time. The order of the log, leases and tokens do not depend on it: they have the store's.

    How far it is ahead is kept in a file, so it goes on after a restart and is the same in all processes.
    """

    def __init__(self, store_clock: StoreClock, folder: Path) -> None:
        self._store_clock = store_clock
        self.stamp = store_clock.stamp
        self._path = ahead_file(folder)

    def __call__(self) -> Instant:
        try:
            return shift(self._store_clock(), timedelta(seconds=float(self._path.read_text())))
        except FileNotFoundError:
            return self._store_clock()

    def routes(self) -> list[Route]:
        return [Route("/development/clock", self._endpoint, methods=["GET", "PUT"])]

    async def _endpoint(self, request: Request) -> Response:
        if not is_from_own_page(request):
            raise HTTPException(403)
        if request.method == "PUT":
            body = await request.body()
            try:
                self._set(parse_instant(json.loads(body)["now"]))
            except (ValueError, KeyError, TypeError):
                return _refused(400, 'The body must be {"now": "<RFC 3339 time>"}, ten years ahead at most.')
            except _BackwardsError as error:
                return _refused(409, f"The clock is at {error}, and never goes back but by `smartlocker demo reset`.")
        return JSONResponse({"now": self()}, headers={"Cache-Control": "no-store"})

    def _set(self, wanted: Instant) -> None:
        # Nothing is awaited between here and the end, so two requests do not undo each other.
        now = self()
        if wanted < now:
            raise _BackwardsError(now)
        ahead = to_datetime(wanted) - to_datetime(self._store_clock())
        if ahead > _FURTHEST:
            raise ValueError
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=self._path.parent, delete=False) as file:
            file.write(str(ahead.total_seconds()))
        Path(file.name).replace(self._path)


class _BackwardsError(Exception):
    pass


def ahead_file(folder: Path) -> Path:
    """The file with the seconds that the clock of a data directory is ahead; there is none until it is set."""
    return folder / "clock-ahead"


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status)
