"""What Prometheus scrapes: the platform's own numbers, from the database at each scrape.

Numbers of single jobs are not here, which come and go by the thousand: their readings have an API of their own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Connection

from headway.domain.lifecycle import JobState
from headway.domain.resources import NodeState
from headway.server.access import Verb
from headway.server.api.asking import AskerHere
from headway.server.operations.alerts.gauges import queued_since
from headway.server.platform import Platform
from headway.store import alerts, attempts, facts, jobs, ledger, nodes, notices

router = APIRouter(tags=["health"])
LIVE = tuple(state for state in JobState if not state.is_terminal)


@router.get("/metrics", include_in_schema=False)
def metrics(asker: AskerHere) -> Response:
    """In Prometheus' text format; it scrapes with a token, as any program does."""
    asker.check(Verb.READ, "node")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Platform(asker.platform))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Platform(Collector):
    """One scrape."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def collect(self) -> Iterable[Metric]:
        with self._platform.database.read() as c:
            return [*_jobs(c, self._platform), *_machines(c), *_alerting(c), *_spine(c)]


def _jobs(c: Connection, platform: Platform) -> Iterator[Metric]:
    now = platform.clock.now()
    live = jobs.in_states(c, *LIVE)
    counted = Counter((job.state.value, job.spec.project) for job in live)
    by_state = GaugeMetricFamily("headway_jobs", "Jobs that have not ended", labels=("state", "project"))
    for labels, count in sorted(counted.items()):
        by_state.add_metric(labels, count)
    yield by_state
    waits = [(now - queued_since(c, job)).total_seconds() for job in live if job.state is JobState.QUEUED]
    yield GaugeMetricFamily("headway_queue_wait_seconds_max", "Longest wait in the queue now", max(waits, default=0.0))


def _machines(c: Connection) -> Iterator[Metric]:
    known = nodes.all(c)
    states = Counter((node.engine, node.device_type, node.state.value) for node in known)
    by_state = GaugeMetricFamily("headway_nodes", "Nodes", labels=("engine", "device_type", "state"))
    for labels, count in sorted(states.items()):
        by_state.add_metric(labels, count)
    yield by_state
    pools: Counter[tuple[str, str, str]] = Counter()
    for node in known:
        use = "up" if node.state is NodeState.UP else "out"
        pools[node.engine, node.device_type, use] += node.devices
    for attempt in attempts.live(c):
        pools[attempt.engine, attempt.device_type, "taken"] += attempt.devices
    devices = GaugeMetricFamily(
        "headway_devices", "Devices that are up, out of use, and taken", labels=("engine", "device_type", "use")
    )
    for labels, count in sorted(pools.items()):
        devices.add_metric(labels, count)
    yield devices


def _alerting(c: Connection) -> Iterator[Metric]:
    standing = Counter((record.rule,) for record in alerts.still_open(c) if record.fired_at is not None)
    fired = GaugeMetricFamily("headway_alerts", "Alerts that stand", labels=("rule",))
    for labels, count in sorted(standing.items()):
        fired.add_metric(labels, count)
    yield fired
    yield GaugeMetricFamily("headway_notices_waiting", "Notices that no channel has taken", len(notices.waiting(c)))


def _spine(c: Connection) -> Iterator[Metric]:
    yield CounterMetricFamily("headway_facts", "Facts recorded", facts.last_seq(c))
    yield CounterMetricFamily("headway_ledger_device_seconds", "Device-seconds in the ledger", ledger.total(c))
