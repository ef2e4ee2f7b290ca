"""Prometheus metrics, in a registry of the application. Every label has few values, whatever clients send."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version

from graphql import GraphQLSyntaxError, OperationDefinitionNode, parse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from loaders.table.health import StoreHealth
from loaders.table.operations import BatchGet
from loaders.table.recording import Record
from server.telemetry.log_writer import dropped_lines
from server.telemetry.observation import Observation
from server.telemetry.shared_metrics import SharedMetrics

MAX_NAMES = 100
"""How many operation names outside of trusted documents get their own series."""

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_SIZES = (1, 2, 5, 10, 25, 50, 100)
_NANO = 1e-9
_NONE, _ANONYMOUS, _OTHER = "none", "anonymous", "other"


class Metrics:
    """Counts requests and, as a recorder, operations of the store.

    Operations of trusted documents always have their own series. A worker counts in the files of `shared`.
    """

    wants_units = True

    def __init__(
        self,
        documents: Iterable[str],
        health: StoreHealth | None = None,
        is_read_only: Callable[[], bool] = lambda: False,
        shared: SharedMetrics | None = None,
    ) -> None:
        self._registry = CollectorRegistry()
        self._shown = self._registry if shared is None else shared.use()
        self._names = _Names(documents, _operations_in(self._shown))
        self._running = self._gauge("requests_in_flight", "Requests that are running.")
        self._followers: dict[str, None] = {}
        self._requests = self._counter("requests", "Requests by operation and code.", "operation", "code")
        self._request_seconds = self._seconds("request", "Time from a request to its response.", "operation")
        self._operations = self._counter("store_operations", "Store operations.", "contract", "operation", "outcome")
        self._units = self._counter("store_units", "Consumed capacity units.", "contract", "kind")
        self._store_seconds = self._seconds("store", "Time of a store operation, including retries.", "contract")
        self._conflicts = self._counter("conflicts", "Writes whose condition failed.", "contract")
        self._retries = self._counter("retries", "Requests to the store that were retried.", "contract")
        self._batches = Histogram(
            "smartlocker_batch_size", "Keys of one BatchGetItem.", ["contract"], buckets=_SIZES, registry=self._registry
        )
        self._introspections = self._counter("introspections", "Introspection fields, which graphql-core executes.")
        self._told = self._counter("followed_activities", "Activities that followers were told.", "shard", "follower")
        self._lag = self._gauge("follower_lag_seconds", "Time by which a follower is behind.", "shard", "follower")
        self._attempts = self._counter("webhook_attempts", "Attempts to deliver a webhook.", "outcome")
        self._waiting = self._gauge("webhook_deliveries_waiting", "Deliveries to enabled webhooks that wait.", "shard")
        self._oldest = self._gauge("webhook_oldest_seconds", "Age of the oldest activity that waits.", "shard")
        self._followed = self._gauge("followed_shards", "Whether this server follows a part of the log.", "shard")
        self._subscriptions = self._gauge("subscriptions", "Subscriptions of clients.")
        self._events = self._counter("subscription_events", "Events that were sent to subscribers.")
        self._shown.register(_ProcessState(health, is_read_only))

    def watch(self, observation: Observation) -> Callable[[], None]:
        observation.recorder = self
        observation.wants_units = True
        self._running.inc()
        return partial(self._finished, observation)

    def begin(self, record: Record) -> None:
        """See Recorder."""

    def end(self, record: Record) -> None:
        contract = record.contract
        self._operations.labels(contract, record.operation.name, record.outcome).inc()
        self._units.labels(contract, "write" if record.is_write else "read").inc(record.units)
        self._store_seconds.labels(contract).observe((record.duration or 0) * _NANO)
        self._retries.labels(contract).inc(record.retries)
        if isinstance(record.operation, BatchGet):
            self._batches.labels(contract).observe(len(record.operation.keys))
        if record.outcome == "CONFLICT":
            self._conflicts.labels(contract).inc()

    def note_introspection(self) -> None:
        self._introspections.inc()

    def told(self, shard: int, follower: str, activities: int) -> None:
        """See Progress."""
        self._told.labels(shard, follower).inc(activities)

    def behind(self, shard: int, seconds: Mapping[str, float] | None) -> None:
        """See Progress. The followers of a part that another server follows are not behind here."""
        self._followed.labels(shard).set(seconds is not None)
        self._followers |= dict.fromkeys(seconds or ())
        for follower in self._followers:
            self._lag.labels(shard, follower).set((seconds or {}).get(follower, 0))

    def subscribed(self, change: int) -> None:
        self._subscriptions.inc(change)

    def delivered(self, events: int) -> None:
        self._events.inc(events)

    def attempted(self, *, is_success: bool) -> None:
        """See DeliveryWatcher."""
        self._attempts.labels("success" if is_success else "failure").inc()

    def waiting(self, shard: int, number: int, oldest: float) -> None:
        """See DeliveryWatcher."""
        self._waiting.labels(shard).set(number)
        self._oldest.labels(shard).set(oldest)

    async def page(self, _: Request) -> Response:
        return Response(generate_latest(self._shown), headers={"Content-Type": CONTENT_TYPE_PLAIN_1_0_0})

    def _finished(self, observation: Observation) -> None:
        self._running.dec()
        if observation.is_page:
            return
        name = self._names.label(observation)
        self._requests.labels(name, observation.code).inc()
        self._request_seconds.labels(name).observe(observation.duration * _NANO)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(f"smartlocker_{name}", help_text, labels, registry=self._registry, multiprocess_mode="sum")

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"smartlocker_{name}_total", help_text, labels, registry=self._registry)

    def _seconds(self, name: str, help_text: str, *labels: str) -> Histogram:
        return Histogram(f"smartlocker_{name}_seconds", help_text, labels, buckets=_SECONDS, registry=self._registry)


class _ProcessState(Collector):
    """State of the process that answers: not counted, since several workers must not add it up."""

    def __init__(self, health: StoreHealth | None, is_read_only: Callable[[], bool]) -> None:
        self._health = health
        self._is_read_only = is_read_only

    def collect(self) -> Iterator[Metric]:
        build = GaugeMetricFamily("smartlocker_build_info", "Version of the server.", labels=["version"])
        build.add_metric([version("smartlocker")], 1)
        yield build
        if self._health is not None:
            up = GaugeMetricFamily("smartlocker_store_up", "Whether the store works.", labels=["kind"])
            up.add_metric(["read"], self._health.is_read_up)
            up.add_metric(["write"], self._health.is_write_up)
            yield up
            skew = self._health.clock.skew_seconds
            if skew is not None:
                yield GaugeMetricFamily(
                    "smartlocker_store_clock_skew_seconds",
                    "Time by which this machine's clock is ahead of the store's.",
                    value=skew,
                )
        yield GaugeMetricFamily(
            "smartlocker_read_only", "Whether this server refuses changes.", value=self._is_read_only()
        )
        yield CounterMetricFamily(
            "smartlocker_log_lines_dropped", "Log lines that nothing has read in time.", value=dropped_lines()
        )


class _Names:
    """Operation names as labels: clients choose them, so their number is limited."""

    def __init__(self, documents: Iterable[str], known: set[str]) -> None:
        self._trusted = {name for document in documents for name in _names_in(document)}
        self._others = known - self._trusted - {_NONE, _ANONYMOUS, _OTHER}

    def label(self, observation: Observation) -> str:
        name = observation.operation_name
        if observation.operation_type is None:
            return _NONE
        if name is None:
            return _ANONYMOUS
        if name not in self._trusted and len(self._others) < MAX_NAMES:
            self._others.add(name)
        return name if name in self._trusted or name in self._others else _OTHER


def _operations_in(registry: CollectorRegistry) -> set[str]:
    """The operation names that have series: a worker that replaces another starts with these."""
    return {
        sample.labels["operation"]
        for metric in registry.collect()
        if metric.name == "smartlocker_requests"
        for sample in metric.samples
    }


def _names_in(document: str) -> Iterator[str]:
    try:
        nodes = parse(document).definitions
    except GraphQLSyntaxError:
        return  # a request for this document reports the error
    yield from (node.name.value for node in nodes if isinstance(node, OperationDefinitionNode) and node.name)
