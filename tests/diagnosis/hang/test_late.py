"""Who keeps the others waiting: by when the ranks came to the collectives they share."""

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.hang.collectives import Late, late
from headway.diagnosis.hang.scene import Collective, Collectives

SECOND = 10**9


def _told(delays: dict[int, list[float]], period_s: float = 1.0) -> dict[int, Collectives]:
    """Ranks that come to collective n after so many seconds, one collective every period."""
    return {
        rank: Collectives(
            newest=tuple(
                Collective(["0", ""], seq, 0, False, "gloo:all_reduce", True, int((seq * period_s + delay) * SECOND))
                for seq, delay in enumerate(found)
            )
        )
        for rank, found in delays.items()
    }


def test_the_rank_that_always_comes_last_by_far_is_slow() -> None:
    found = late(_told({0: [0.0] * 20, 1: [0.01] * 20, 2: [0.6] * 20}))
    assert isinstance(found, Late)
    assert (found.rank, found.period_s) == (2, 1.0)
    assert 0.58 < found.seconds < 0.6


def test_ranks_that_come_together_or_last_by_turns_are_not_slow() -> None:
    assert late(_told({0: [0.0] * 20, 1: [0.01] * 20})) is None
    turns = [0.6 if seq % 2 else 0.0 for seq in range(20)]
    others = [0.0 if seq % 2 else 0.6 for seq in range(20)]
    assert late(_told({0: turns, 1: others})) is None


def test_one_late_step_makes_no_slow_rank() -> None:
    assert late(_told({0: [0.0] * 20, 1: [0.0] * 19 + [30.0]})) is None
    one_step = [0.0] * 16 + [30.0, 29.1, 28.2, 27.3]
    assert late(_told({0: [0.0] * 20, 1: one_step})) is None, "all its collectives came at once, after one pause"


def test_too_little_says_nothing() -> None:
    assert late({}) is None
    assert late(_told({0: [0.0] * 20})) is None
    assert late(_told({0: [0.0] * 3, 1: [0.9] * 3})) is None


@given(st.integers(2, 8), st.data(), st.floats(0.05, 20))
def test_the_slow_rank_is_found_at_any_pace(world: int, data: st.DataObject, period: float) -> None:
    slow = data.draw(st.integers(0, world - 1))
    delays = {
        rank: [data.draw(st.floats(0, 0.05)) * period + (0.6 * period if rank == slow else 0) for _ in range(12)]
        for rank in range(world)
    }
    found = late(_told(delays, period))
    assert found is not None
    assert found.rank == slow
