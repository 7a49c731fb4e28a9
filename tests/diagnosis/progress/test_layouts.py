"""What is read of lines as frameworks print them, and of lines that only look like progress."""

import math

import pytest

from headway.diagnosis.progress import read
from tests.diagnosis.progress.layouts import SILENT, TOLD
from tests.diagnosis.progress.scoring import FIELDS

BELOW_A_HEADER = ("keras 2", "paddle hapi")


@pytest.mark.parametrize(("name", "line", "wanted"), [(name, line, wanted) for name, line, *wanted in TOLD])
def test_a_progress_line_gives_what_it_prints_and_nothing_else(name, line, wanted):
    above = ["Epoch 1/5"] if name in BELOW_A_HEADER else []
    records = [record for record in read([*above, line]).records if record.line == len(above) + 1]
    assert len(records) == 1
    for field, value in zip(FIELDS, wanted, strict=True):
        got = getattr(records[0], field)
        if value is not None and math.isnan(value):
            assert math.isnan(got)
        else:
            assert got == (None if value is None else pytest.approx(value)), field


@pytest.mark.parametrize("line", SILENT)
def test_a_line_that_only_looks_like_progress_gives_no_record(line):
    assert read([line]).records == ()


def test_a_line_without_a_figure_is_no_record_and_no_reader_matched():
    found = read(["[step=10/1000,epoch=1,eta=1:00:00]", "hello"])
    assert (found.records, found.reader) == ((), None)
