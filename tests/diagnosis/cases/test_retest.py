"""Whether a retest passed."""

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.cases.retest import TOLERANCE, Measured, Outcome, judge

REFERENCE = {"matmul_gflop_s": 100.0, "allreduce_mb_s": 50.0}


def test_speeds_near_the_reference_pass() -> None:
    judged = judge(Measured({"matmul_gflop_s": 91.0, "allreduce_mb_s": 70.0, "copy_mb_s": 1.0}), REFERENCE)
    assert judged.outcome is Outcome.PASSED
    assert [(finding.name, finding.is_low) for finding in judged.findings] == [
        ("allreduce_mb_s", False),
        ("matmul_gflop_s", False),
    ]


def test_one_slow_number_fails() -> None:
    judged = judge(Measured({"matmul_gflop_s": 89.0, "allreduce_mb_s": 50.0}), REFERENCE)
    assert judged.outcome is Outcome.FAILED
    assert [finding.name for finding in judged.findings if finding.is_low] == ["matmul_gflop_s"]


def test_a_wrong_result_fails_however_fast() -> None:
    assert judge(Measured({"matmul_gflop_s": 999.0}, ("matmul",)), None).outcome is Outcome.FAILED


def test_a_number_that_is_missing_fails() -> None:
    judged = judge(Measured({"matmul_gflop_s": 100.0}), REFERENCE)
    assert (judged.outcome, judged.missing) == (Outcome.FAILED, ("allreduce_mb_s",))


def test_a_program_that_did_not_end_fails_and_one_without_reference_proves_nothing() -> None:
    assert judge(None, REFERENCE).outcome is Outcome.FAILED
    assert judge(Measured({"matmul_gflop_s": 100.0}), None).outcome is Outcome.INCONCLUSIVE


@given(st.dictionaries(st.sampled_from("abc"), st.floats(1, 1e6), min_size=1), st.floats(0, 3))
def test_it_passes_exactly_when_every_speed_is_within_the_tolerance(reference: dict[str, float], share: float) -> None:
    judged = judge(Measured({name: value * share for name, value in reference.items()}), reference)
    near = all(not finding.is_low for finding in judged.findings)
    assert (judged.outcome is Outcome.PASSED) == near
    assert near == all(finding.share >= 1 - TOLERANCE for finding in judged.findings)
