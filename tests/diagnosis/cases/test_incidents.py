"""What failed together."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.cases.incidents import Failure, incidents
from headway.domain.ids import JobId
from tests.builders import HOUR, MINUTE, NOW


def a_failure(job: str = "j-1", node: str | None = "n1", switch: str | None = None, **fields: object) -> Failure:
    shares = {name: value for name, value in (("node", node), ("switch", switch)) if value is not None}
    given: dict[str, object] = {
        "at": NOW,
        "fault": "node-down",
        "devices": 8,
        "nodes": (node,) if node else (),
        "until": NOW + HOUR,
        "shares": shares,
    } | fields
    return Failure(job=JobId(job), **given)  # type: ignore[arg-type]


def test_failures_on_one_node_are_one_incident() -> None:
    (one,) = incidents([a_failure("j-1"), a_failure("j-2", at=NOW + MINUTE)], NOW + HOUR)
    assert (one.kind, one.name, one.jobs, one.is_open) == ("node", "n1", ("j-1", "j-2"), False)
    assert one.idle == 8 * (HOUR + 59 * MINUTE)


def test_two_nodes_behind_one_switch_are_one_incident() -> None:
    (one,) = incidents([a_failure("j-1", "n1", "s1"), a_failure("j-2", "n2", "s1")], NOW)
    assert (one.kind, one.name, one.nodes) == ("switch", "s1", ("n1", "n2"))


def test_one_node_alone_does_not_accuse_its_switch() -> None:
    (one,) = incidents([a_failure("j-1", "n1", "s1"), a_failure("j-2", "n1", "s1")], NOW)
    assert (one.kind, one.name) == ("node", "n1")


def test_failures_hours_apart_are_two_incidents() -> None:
    found = incidents([a_failure(), a_failure(at=NOW + 5 * HOUR, until=None)], NOW + 7 * HOUR)
    assert [(one.began, one.is_open) for one in found] == [(NOW + 5 * HOUR, True), (NOW, False)]


def test_what_nothing_is_known_of_stays_with_its_job() -> None:
    (one,) = incidents([a_failure(node=None)], NOW)
    assert (one.kind, one.name) == ("job", "j-1")


@given(
    st.lists(
        st.builds(
            a_failure,
            st.sampled_from(["j-1", "j-2", "j-3"]),
            st.sampled_from(["n1", "n2", None]),
            st.sampled_from(["s1", None]),
            at=st.integers(0, 200).map(lambda n: NOW + timedelta(minutes=n)),
            until=st.none(),
        )
    )
)
def test_every_failure_is_in_exactly_one_incident_and_the_dearest_come_first(failures: list[Failure]) -> None:
    now = NOW + 10 * HOUR
    found = incidents(failures, now)
    assert sorted(id(f) for one in found for f in one.failures) == sorted(id(f) for f in failures)
    assert [one.idle for one in found] == sorted((one.idle for one in found), reverse=True)
    assert sum((one.idle for one in found), timedelta(0)) == sum((f.idle(now) for f in failures), timedelta(0))
