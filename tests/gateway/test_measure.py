from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.gateway.measure import Reading, Window, by_service, quantile, read


def test_statistics_are_read_back_by_cluster_even_with_dots_in_the_version() -> None:
    name = "cluster.nlp/chat/v1.2"
    stats: list[dict[str, Any]] = [
        {"name": f"{name}.upstream_rq_completed", "value": 7},
        {"name": f"{name}.external.upstream_rq_completed", "value": 99},
        {"name": f"{name}.upstream_rq_active", "value": 2},
        {
            "histograms": {
                "details": [
                    {
                        "name": f"{name}.upstream_rq_time",
                        "totals": [{"lower_bound": 40, "width": 1, "count": 7}],
                    }
                ]
            }
        },
    ]
    readings = read(stats, ["nlp/chat/v1.2", "nlp/chat/new"])
    assert readings["nlp/chat/v1.2"] == Reading(requests=7, in_flight=2, latency={(40, 1): 7})
    assert readings["nlp/chat/new"] == Reading()


def test_a_quantile_is_linear_within_its_bucket() -> None:
    assert quantile({(10, 10): 100}, 0.5) == 15
    assert quantile({(0, 1): 95, (100, 10): 5}, 0.95) == 1
    assert quantile({(0, 1): 90, (100, 10): 10}, 0.95) == 105


def test_without_answers_there_is_no_latency() -> None:
    assert quantile({}, 0.5) is None
    assert quantile({(0, 1): 0}, 0.5) is None


buckets = st.dictionaries(st.integers(0, 99).map(lambda low: (float(low), 1.0)), st.integers(0, 50), min_size=1)


@given(buckets, st.floats(0.01, 1), st.floats(0.01, 1))
def test_quantiles_rise_and_stay_within_what_was_seen(
    latency: dict[tuple[float, float], int], a: float, b: float
) -> None:
    low, high = sorted((a, b))
    lower, upper = quantile(latency, low), quantile(latency, high)
    if not sum(latency.values()):
        assert lower is None
        return
    assert lower is not None
    assert upper is not None
    seen = [bucket for bucket, count in latency.items() if count]
    assert min(seen)[0] <= lower <= upper <= max(seen)[0] + 1


def test_recent_forgets_what_is_older_than_the_window() -> None:
    window = Window()
    for at in range(0, 200, 2):
        window.add(at, {"c": Reading(requests=at, errors_5xx=at // 2, latency={(float(at // 100), 1.0): at})})
    recent = window.recent("c")
    assert recent["seconds"] == pytest.approx(60, abs=2)
    assert recent["requests"] == recent["seconds"]
    assert recent["errors_5xx"] == recent["seconds"] / 2


def test_a_cluster_that_came_back_counts_from_its_return() -> None:
    window = Window()
    window.add(0, {"c": Reading(requests=1000)})
    window.add(2, {})
    window.add(4, {"c": Reading(requests=3)})
    assert window.recent("c")["requests"] == 3


def test_the_document_groups_versions_by_service_and_marks_the_draining() -> None:
    readings = {"nlp/chat/v1": Reading(requests=5, healthy=1, endpoints=2), "nlp/chat/v0": Reading(in_flight=1)}
    window = Window()
    window.add(1, readings)
    [service] = by_service(readings, window, ["nlp/chat/v0"])
    assert (service["project"], service["name"]) == ("nlp", "chat")
    assert [(v["version"], v["draining"], v["in_flight"]) for v in service["versions"]] == [
        ("v1", False, 0),
        ("v0", True, 1),
    ]
