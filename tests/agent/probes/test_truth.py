"""Every print-out of the shared folder against the truth beside it, named and unnamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.agent.printouts import screen
from headway.agent.probes import port
from tests.agent.probes.scoring import PRINTOUTS, compare

PAIRS = sorted(path.relative_to(PRINTOUTS) for path in PRINTOUTS.glob("*/*.json"))


def read(pair: Path, tool: str) -> dict[str, Any]:
    text = (PRINTOUTS / pair).with_suffix(".txt").read_bytes()
    return port.read(pair.parts[0], tool, screen.plain(text))


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_print_out_is_read_as_the_truth_says(shared: Path, pair: Path) -> None:
    truth = json.loads((PRINTOUTS / pair).read_text())
    right, wrong = compare(read(pair, truth["tool"]), truth)
    assert wrong == []
    assert right > 0


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_tool_that_nobody_named_is_recognised_from_its_text(shared: Path, pair: Path) -> None:
    truth = json.loads((PRINTOUTS / pair).read_text())
    assert compare(read(pair, "no-such-tool"), truth)[1] == []


def test_no_print_out_of_one_maker_makes_another_makers_readers_fail(shared: Path) -> None:
    """They may find cards in it or refuse it, but nothing else."""
    for pair in PAIRS:
        text = screen.plain((PRINTOUTS / pair).with_suffix(".txt").read_bytes())
        for maker in port.MAKERS:
            try:
                assert "cards" in port.read(maker, "", text)
            except port.UnknownText:
                assert maker != pair.parts[0]
