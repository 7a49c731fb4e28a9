"""Lines of healthy programs that sound like trouble stop nothing: at the start, on the way, and after a good end."""

from pathlib import Path

import pytest

from headway.diagnosis.examine_files import examine_files
from headway.diagnosis.reading.read import Source

LINES = Path(__file__).with_name("frightening.txt").read_text(encoding="utf-8").splitlines()


def steps(first: int, last: int) -> str:
    return "".join(
        f"step {n}/900 | loss {3 - n / 1000:.3f} | lr 1e-4 | 120.0 tokens/s\n" for n in range(first, last + 1)
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [("", steps(1, 8)), (steps(1, 5), steps(6, 11)), (steps(1, 11) + "Training finished\n", "")],
    ids=["at the start", "on the way", "after the end"],
)
def test_what_training_goes_on_after_or_ended_well_before_stopped_nothing(before: str, after: str) -> None:
    found = {line: examine_files([Source("train.log", [f"{before}{line}\n{after}".encode()])], "en") for line in LINES}
    assert {line for line, each in found.items() if each["cause_class"] != "NONE"} == set()
