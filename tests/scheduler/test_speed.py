"""A plan for a large cluster in under a second, so that the queue keeps up with people."""

from time import process_time

from headway.scheduler.cycle import schedule
from headway.scheduler.snapshot import Snapshot
from tests.builders import HOUR, MINUTE, a_node, a_queued, a_running, a_snapshot

TYPES = ("h200", "910b", "a100", "l40")
SHAPES = ((1, 1), (2, 1), (4, 1), (8, 1), (8, 2), (8, 16))


def a_large_cluster() -> Snapshot:
    nodes = [a_node(f"n{i:04}", device_type=TYPES[i % 4]) for i in range(1000)]
    running = [
        a_running(f"r{i}", {node.name: range(3 + i % 6)}, device_type=node.device_type, limit=(2 + i % 50) * HOUR)
        for i, node in enumerate(nodes)
    ]
    queued = [
        a_queued(f"q{i}", *SHAPES[i % 6], types=TYPES[i % 4 : i % 4 + 2], age=i * MINUTE, limit=(1 + i % 30) * HOUR)
        for i in range(2000)
    ]
    return a_snapshot(nodes, queued, running)


def test_a_plan_for_a_thousand_nodes_and_two_thousand_queued_jobs_takes_under_a_second() -> None:
    snapshot = a_large_cluster()
    seconds = []
    for _ in range(3):
        began = process_time()
        plan = schedule(snapshot)
        seconds.append(process_time() - began)
    assert len(plan.starts) + len(plan.waits) == 2000
    assert min(seconds) < 1.0
