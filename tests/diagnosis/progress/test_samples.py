"""The labelled logs of the shared folder: every record read right, none invented, the phases told apart."""

import pytest

from headway.diagnosis.progress import read
from tests.diagnosis.progress.scoring import Score, lines_of, score


def test_the_logs_of_forty_frameworks_are_read_right(shared):
    total = Score()
    for path in sorted((shared / "data" / "progress").glob("*.json")):
        total.add(score(path, read(lines_of(path.with_suffix(".log")))))
    assert total.records > 1500
    assert total.right >= 0.99 * total.records, total.missed
    assert total.false <= 0.001 * total.read, total.missed
    assert total.in_phase >= 0.95 * total.lines


@pytest.mark.parametrize(
    "prefix",
    ["3: ", "[default0]:[rank0]: ", "[2025-01-01 00:00:00] [INFO] ", "Jan  1 00:00:00 node-1 train[1234]: "],
    ids=["srun", "torchrun", "logger", "syslog"],
)
def test_what_stands_in_front_of_every_line_changes_nothing(shared, prefix):
    total = Score()
    for path in sorted((shared / "data" / "progress").glob("*.json")):
        lines = [prefix + line for line in lines_of(path.with_suffix(".log"))]
        total.add(score(path, read(lines)))
    assert total.right >= 0.995 * total.records, total.missed
    assert total.false == 0, total.missed
