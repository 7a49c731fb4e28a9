"""What is borrowed is split over those who lend, to the last device."""

from hypothesis import given
from hypothesis import strategies as st

from headway.server.api.table import _parts

LENDERS = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 50), min_size=1)


@given(st.integers(-5, 300), LENDERS)
def test_parts_add_up_and_nobody_lends_more_than_it_has(whole: int, lenders: dict[str, int]) -> None:
    parts = _parts(whole, lenders)
    assert sum(parts.values()) == min(max(0, whole), sum(lenders.values()))
    assert all(0 <= parts[name] <= lenders[name] for name in parts)
