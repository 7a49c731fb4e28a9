"""Cards are read from the makers' own print-outs, and no card is lost or doubled when a machine is divided."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.domain.resources import Maker
from headway.engines.local.discover import Card, Tool, device_type, discover, read_ascend, read_nvidia
from headway.engines.local.settings import VirtualNode

PRINTOUTS = Path(__file__).parents[2] / os.environ.get("HEADWAY_SHARED", "../shared") / "data" / "probes"
needs_printouts = pytest.mark.skipif(not PRINTOUTS.is_dir(), reason="HEADWAY_SHARED is not here: card print-outs")


def printing(tmp_path: Path, text: str, code: int = 0) -> tuple[str, ...]:
    """A tool that prints this."""
    script = tmp_path / "tool"
    script.write_text(f"#!{sys.executable}\nimport sys\nprint({text!r}, end='')\nsys.exit({code})\n")
    script.chmod(0o755)
    return (str(script),)


def truth(name: str) -> tuple[Card, ...]:
    cards = json.loads((PRINTOUTS / f"{name}.json").read_text())["cards"]
    return tuple(Card(card["index"], card["name"]) for card in cards)


@needs_printouts
@pytest.mark.parametrize("name", ["npu-smi-01", "npu-smi-02", "npu-smi-03", "npu-smi-04"])
def test_ascend_cards_are_read_as_printed(name: str) -> None:
    assert read_ascend((PRINTOUTS / f"ascend/{name}.txt").read_text()) == truth(f"ascend/{name}")


@needs_printouts
def test_nvidia_cards_are_read_as_printed() -> None:
    text = (PRINTOUTS / "nvidia/nvidia-smi-csv-01.txt").read_text()
    assert read_nvidia(text) == truth("nvidia/nvidia-smi-csv-01")


@needs_printouts
def test_other_print_outs_of_the_tools_hold_no_cards_for_these_readers() -> None:
    for path in sorted(PRINTOUTS.glob("ascend/npu-smi-[a-z]*.txt")):
        assert read_ascend(path.read_text()) == (), path.name


def test_a_model_becomes_a_legal_device_type() -> None:
    assert device_type(Maker.NVIDIA, "NVIDIA H100 80GB HBM3") == "h100-80gb-hbm3"
    assert device_type(Maker.NVIDIA, "Tesla V100-SXM2-32GB") == "tesla-v100-sxm2-32gb"
    assert device_type(Maker.ASCEND, "910B3") == "ascend-910b3"
    assert device_type(Maker.ASCEND, "Ascend910") == "ascend910"


def test_a_machine_without_tools_has_cpu_slots() -> None:
    (node,) = discover((), "local", tools=())
    assert (node.device_type, node.maker) == ("cpu", Maker.CPU)
    assert node.cards == tuple(range(os.cpu_count() or 1))


def test_cpu_slots_may_be_more_than_cpus() -> None:
    nodes = discover((VirtualNode("n1", 500), VirtualNode("n2", 2, "slot")), "local", tools=())
    assert [(node.name, node.device_type, len(node.cards)) for node in nodes] == [("n1", "cpu", 500), ("n2", "slot", 2)]


def test_a_tool_that_fails_is_an_error_and_not_a_machine_without_cards(tmp_path: Path) -> None:
    failing = Tool(Maker.NVIDIA, printing(tmp_path, "Failed to initialize NVML", 255), read_nvidia)
    with pytest.raises(PlatformError, match="Failed to initialize NVML") as fault:
        discover((), "local", (failing,))
    assert fault.value.code == "engine-unreachable"


def test_a_tool_without_cards_leaves_the_next_one_to_answer(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    none = Tool(Maker.NVIDIA, printing(tmp_path / "a", ""), read_nvidia)
    some = Tool(Maker.ASCEND, printing(tmp_path, "0, 910B3\n"), read_nvidia)
    (node,) = discover((), "local", (none, some))
    assert (node.device_type, node.cards) == ("ascend-910b3", (0,))


def test_cards_of_two_models_are_two_nodes(tmp_path: Path) -> None:
    mixed = Tool(Maker.NVIDIA, printing(tmp_path, "0, NVIDIA A100\n1, Tesla T4\n2, NVIDIA A100\n"), read_nvidia)
    nodes = {node.device_type: node for node in discover((), "local", (mixed,))}
    assert {kind: node.cards for kind, node in nodes.items()} == {"a100": (0, 2), "tesla-t4": (1,)}
    assert len({node.name for node in nodes.values()}) == 2


def test_more_cards_than_there_are_cannot_be_set(tmp_path: Path) -> None:
    two = Tool(Maker.NVIDIA, printing(tmp_path, "0, NVIDIA A100\n1, NVIDIA A100\n"), read_nvidia)
    with pytest.raises(PlatformError, match="this machine has 2 cards: a100") as fault:
        discover((VirtualNode("n1", 1), VirtualNode("n2", 2)), "local", (two,))
    assert fault.value.params["value"] == "n2:2"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_no_card_is_in_two_nodes(sizes: list[int]) -> None:
    cards = "".join(f"{index}, NVIDIA A100\n" for index in range(16))
    echo = Tool(Maker.NVIDIA, ("printf", cards), read_nvidia)
    nodes = discover([VirtualNode(f"n{i}", size) for i, size in enumerate(sizes)], "local", (echo,))
    given_out = [card for node in nodes for card in node.cards]
    assert len(given_out) == len(set(given_out)) == sum(sizes)
    assert [len(node.cards) for node in nodes] == sizes
