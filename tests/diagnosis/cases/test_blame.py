"""Which faults count against a node."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.cases.blame import SPELL, TOGETHER, Blame, weigh
from headway.domain.ids import AttemptId
from tests.builders import HOUR, MINUTE, NOW

TINY = timedelta(seconds=1)


def a_blame(node: str = "n1", device: int | None = 0, attempt: str | None = "j-1.1", **fields: object) -> Blame:
    given: dict[str, object] = {"at": NOW, "fault": "gpu-ecc", "source": "verdict-reached"} | fields
    return Blame(node=node, device=device, attempt=None if attempt is None else AttemptId(attempt), **given)  # type: ignore[arg-type]


def test_one_fault_on_one_card_counts() -> None:
    (counted,) = weigh([a_blame()])
    assert (counted.counts, counted.why) == (True, None)


def test_the_same_fault_on_two_cards_of_one_job_at_once_is_software() -> None:
    counted = weigh([a_blame(device=0), a_blame(device=1, at=NOW + TOGETHER)])
    assert [(one.counts, one.why) for one in counted] == [(False, "at-once")] * 2
    across = weigh([a_blame("n1"), a_blame("n2", at=NOW + TINY)])
    assert not any(one.counts for one in across)


def test_two_cards_an_hour_apart_or_of_two_jobs_count_each() -> None:
    assert all(one.counts for one in weigh([a_blame(), a_blame("n2", at=NOW + HOUR)]))
    assert all(one.counts for one in weigh([a_blame(), a_blame("n2", attempt="j-2.1")]))


def test_what_a_node_shows_again_in_one_attempt_is_one_fault() -> None:
    counted = weigh([a_blame(), a_blame(at=NOW + HOUR, fault="fallen-off-bus")])
    assert [(one.counts, one.why) for one in counted] == [(True, None), (False, "repeated")]


def test_an_idle_node_that_repeats_itself_has_one_fault_a_spell() -> None:
    told = [a_blame(attempt=None, at=NOW + n * 50 * MINUTE) for n in range(4)]
    assert [one.counts for one in weigh(told)] == [True, False, False, False]
    later = a_blame(attempt=None, at=told[-1].at + SPELL + TINY)
    assert weigh([*told, later])[-1].counts


def test_what_a_program_did_does_not_count_against_the_node() -> None:
    told = [a_blame(attempt=None, fault="oom_kill"), a_blame(attempt=None, fault="xid", code=31)]
    assert [one.why for one in weigh(told)] == ["program", "program"]
    (counted,) = weigh([a_blame(attempt=None, fault="xid", code=79)])
    assert counted.counts


@given(st.permutations([a_blame("n1"), a_blame("n2"), a_blame("n3", at=NOW + HOUR), a_blame("n1", attempt="j-9.1")]))
def test_the_order_in_which_faults_are_told_changes_nothing(told: list[Blame]) -> None:
    assert {(one.blame, one.counts) for one in weigh(told)} == {
        (a_blame("n1"), False),
        (a_blame("n2"), False),
        (a_blame("n3", at=NOW + HOUR), True),
        (a_blame("n1", attempt="j-9.1"), True),
    }
