"""What `headway why` says of a start that nobody can foretell."""

import pytest

from headway.cli.telling import start_range


@pytest.mark.parametrize("why", ["no-history", "quota", "node-health", "capacity", "budget", "dependency-failed"])
def test_a_start_that_cannot_be_known_is_said_to_be_unknown_in_words(why: str) -> None:
    told = start_range({"forecast": {"p50": None, "unknown": why}})
    assert told
    assert "start-unknown" not in told
    assert why not in {"budget", "dependency-failed"} or told == start_range({"forecast": {"unknown": "blocked"}})
