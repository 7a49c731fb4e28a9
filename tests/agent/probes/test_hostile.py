"""Print-outs that were cut, shuffled or made up: a reader refuses them or reads what is there, and never hangs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.agent.printouts import screen
from headway.agent.probes import kernel, port
from tests.agent.probes.scoring import PRINTOUTS

TEXTS = sorted(PRINTOUTS.glob("*/*.txt"))
MARKS = st.text(alphabet='| +-=:0123456789/%°CWMiBGPUN[]{}",.\nXid#\t', max_size=400)
ENOUGH = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def try_to_read(maker: str, text: str) -> None:
    try:
        json.dumps(port.read(maker, "", text))
    except port.UnknownText:
        return


@ENOUGH
@given(data=st.data())
def test_a_cut_or_shuffled_print_out_is_read_or_refused(shared: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(TEXTS))
    lines = screen.plain(path.read_bytes()).splitlines()[:120]
    kept = data.draw(st.lists(st.sampled_from(lines), max_size=60)) if data.draw(st.booleans()) else lines
    text = "\n".join(kept)
    try_to_read(path.parent.name, text[: data.draw(st.integers(0, len(text)))])


@ENOUGH
@given(maker=st.sampled_from(port.MAKERS), text=MARKS)
def test_made_up_text_is_read_or_refused(maker: str, text: str) -> None:
    try_to_read(maker, text)


@ENOUGH
@given(raw=st.binary(max_size=300))
def test_any_bytes_become_plain_lines(raw: bytes) -> None:
    assert "\r" not in screen.plain(raw)


@pytest.mark.parametrize(
    "piece", ["a ", "| ", "0 / ", "N/A ", "[", ": ", ",", "pid=1 name=", "Link Link ", "error ", "1.1.1 "]
)
def test_a_hostile_line_is_read_in_time(piece: str) -> None:
    line = piece * (20000 // len(piece))
    began = time.process_time()
    for prefix in ("", "NVRM: Xid (PCI:0", "mlx5_core ", "[ascend] ", "sda "):
        kernel.event_of(prefix + line)
    for maker in port.MAKERS:
        try_to_read(maker, f"| GPU  Name | Bus-Id | ECC |\n|====|====|===|\n| 0 {line} | {line} | {line} |\n{line}\n")
    assert time.process_time() - began < 30
