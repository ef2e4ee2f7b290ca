"""Metrics of a server with several workers: every worker counts in files of its own, and any worker adds them up."""

import os
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

_COUNTERS: Final = ("counter", "histogram")
_GAUGES: Final = "gauge_sum"


class SharedMetrics(NamedTuple):
    """The files of one worker.

    They are named by its number, not by its process: a worker that replaces another goes on counting where that one
    ended.
    """

    directory: Path
    number: int

    def create(self) -> None:
        """Creates the files, before any worker could read one that is not complete."""
        for kind in (*_COUNTERS, _GAUGES):
            MmapedDict(self._path(kind)).close()

    def reset_gauges(self) -> None:
        """Sets the gauges of a worker that died to 0."""
        file = MmapedDict(self._path(_GAUGES))
        for key, _, _ in list(file.read_all_values()):
            file.write_value(key, 0.0, 0.0)
        file.close()

    def use(self) -> CollectorRegistry:
        """Makes all metrics of this process count in the files; returns the registry with the sums of all workers."""
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(self.directory)
        values.ValueClass = values.MultiProcessValue(lambda: self.number)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self.directory))
        return registry

    def _path(self, kind: str) -> str:
        return str(self.directory / f"{kind}_{self.number}.db")
