"""What the agent is told: shares of cards, the machine's own numbers, and one owner for each thing."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Launcher
from headway.domain.resources import Maker
from headway.engines.local.discover import LocalNode
from headway.engines.local.order import Meeting, node_order, share
from headway.engines.local.settings import LocalSettings
from headway.engines.protocol import LaunchOrder, NodeOrder, UnixUser

SETTINGS = LocalSettings(Path("/run"), Path("/agent.pyz"))
MEETING = Meeting(20001, 20002)
ORDER = LaunchOrder(
    attempt=AttemptId("j-7f3k2m9q.1"),
    job=JobId("j-7f3k2m9q"),
    number=1,
    nodes=(NodeOrder("n1", (0, 1), (0, 1)), NodeOrder("n2", (0, 1), (2, 3))),
    device_type="a100",
    launcher=Launcher.RANKS,
    command=("python3", "train.py"),
    env={"K": "V"},
    workdir="/work",
    server_url="http://127.0.0.1:8470",
    token="t",
    grace=timedelta(seconds=30),
)


@given(st.integers(1, 16), st.integers(1, 16))
def test_shares_cover_every_card_and_are_apart_when_there_are_enough(cards: int, ranks: int) -> None:
    numbers = tuple(range(cards))
    shares = [share(numbers, index, ranks) for index in range(ranks)]
    assert all(shares)
    assert {card for part in shares for card in part} == set(numbers)
    if cards >= ranks:
        assert sum(map(len, shares)) == cards


def test_cards_are_called_by_the_machines_own_numbers_everywhere() -> None:
    second = LocalNode("n2", "a100", Maker.NVIDIA, (4, 5, 6, 7))
    order = replace(ORDER, nodes=(ORDER.nodes[0], NodeOrder("n2", (1, 2), (2, 3))))
    told = node_order(order, 1, second, MEETING, SETTINGS)
    assert told["visible_devices"] == {"CUDA_VISIBLE_DEVICES": "5,6"}
    assert told["devices"] == [5, 6]
    assert told["ranks"] == [
        {"rank": 2, "local_rank": 0, "devices": [5]},
        {"rank": 3, "local_rank": 1, "devices": [6]},
    ]


def test_each_maker_has_its_own_variable_and_cpus_have_none() -> None:
    ascend = node_order(ORDER, 0, LocalNode("n1", "ascend-910b3", Maker.ASCEND, (0, 1)), MEETING, SETTINGS)
    cpu = node_order(ORDER, 0, LocalNode("n1", "cpu", Maker.CPU, (0, 1)), MEETING, SETTINGS)
    assert ascend["visible_devices"] == {"ASCEND_RT_VISIBLE_DEVICES": "0,1"}
    assert (cpu["visible_devices"], cpu["device_maker"], cpu["env"]) == ({}, "cpu", {"K": "V"})


def test_the_job_may_choose_its_own_order_of_cuda_cards() -> None:
    node = LocalNode("n1", "a100", Maker.NVIDIA, (0, 1))
    order = replace(ORDER, env={"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})
    assert node_order(ORDER, 0, node, MEETING, SETTINGS)["env"]["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert node_order(order, 0, node, MEETING, SETTINGS)["env"]["CUDA_DEVICE_ORDER"] == "FASTEST_FIRST"


def test_an_order_has_the_keys_of_the_protocol_and_no_other() -> None:
    text = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    example = text.split("`order.json`:\n```json\n")[1].split("```")[0]
    documented = json.loads(re.sub(r"\s+//.*", "", example))
    user = UnixUser("ann", 1000, 1000, (1000,), "/home/ann")
    told = node_order(replace(ORDER, user=user), 0, LocalNode("n1", "cpu", Maker.CPU, (0, 1)), MEETING, SETTINGS)
    written = json.loads(json.dumps({**told, "cgroup": None}))
    assert set(written) == set(documented)
    assert set(written["log_limits"]) == set(documented["log_limits"])
    assert set(written["ranks"][0]) == set(documented["ranks"][0])
    assert written["user"] == documented["user"]


def test_a_service_is_told_the_port_in_its_command_and_environment() -> None:
    order = replace(ORDER, command=("serve", "--port={port}", "{other}"), env={"ADDRESS": "127.0.0.1:{port}"})
    node = LocalNode("n1", "cpu", Maker.CPU, (0, 1))
    told = node_order(order, 0, node, replace(MEETING, port=21000), SETTINGS)
    assert told["command"] == ["serve", "--port=21000", "{other}"]
    assert told["env"]["ADDRESS"] == "127.0.0.1:21000"
    assert node_order(order, 0, node, replace(MEETING, port=None), SETTINGS)["command"] == list(order.command)
