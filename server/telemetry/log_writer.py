"""Writing of log lines without waiting for the reader: a thread writes what has come together."""

import logging
import threading
from collections import deque
from typing import Final, TextIO

_MAX_LINES: Final = 10_000
_CLOSING_SECONDS: Final = 5
# To wake the thread for every line takes longer than to write it.
_GATHERING_SECONDS: Final = 0.05


class LineWriter(logging.Handler):
    """Formats lines at once, and writes them to a stream in a thread of its own.

    If nothing reads the stream, lines are kept up to a limit, then dropped and counted: the server goes on.
    """

    def __init__(self, stream: TextIO, max_lines: int = _MAX_LINES, closing_seconds: float = _CLOSING_SECONDS) -> None:
        super().__init__()
        self._stream = stream
        self._max_lines = max_lines
        self._closing_seconds = closing_seconds
        self._lines: deque[str] = deque()
        self._has_lines = threading.Event()
        self._closing = threading.Event()
        self.dropped = 0
        # A thread that a stuck stream holds must not keep the process from ending.
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a line; logging calls it under the handler's lock."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  # as every handler does
            self.handleError(record)
        else:
            self.write(line)

    def write(self, line: str) -> None:
        """Takes a line; from any thread, since of threads at the same time one may keep a line beyond the limit."""
        if len(self._lines) >= self._max_lines:
            self.dropped += 1
            return
        self._lines.append(line)
        if not self._has_lines.is_set():  # to set it again takes a lock
            self._has_lines.set()

    def close(self) -> None:
        self._closing.set()
        self._has_lines.set()
        self._thread.join(self._closing_seconds)
        super().close()

    def _write_all(self) -> None:
        while not self._closing.is_set() or self._lines:
            self._has_lines.wait()
            self._closing.wait(_GATHERING_SECONDS)
            self._has_lines.clear()
            lines = [self._lines.popleft() for _ in range(len(self._lines))]
            if lines:
                try:
                    self._stream.write("\n".join(lines) + "\n")
                    self._stream.flush()
                except (OSError, ValueError):  # there is no reader any more
                    self.dropped += len(lines)


def dropped_lines() -> int:
    return sum(handler.dropped for handler in logging.getLogger().handlers if isinstance(handler, LineWriter))
