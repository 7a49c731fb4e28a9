"""An agent on a batch system's devices does not hold them for a server that is away: it leaves what it knows behind."""

from __future__ import annotations

import sys

import pytest

from tests.agent.node import Node
from tests.agent.test_delivery import TALKER, assert_all_told_once
from tests.agent.witness_server import WitnessServer

LEFT = 3


def test_an_agent_told_to_leave_does_and_another_delivers_what_it_left(
    node: Node, server: WitnessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.down()
    node.write_order(sys.executable, "-c", TALKER, "300")
    for name, value in {"HEADWAY_LEAVE_S": "0.5", "HEADWAY_TAKEN_AT": "1796087970", "HEADWAY_CARDS": "3,4"}.items():
        monkeypatch.setenv(name, value)
    assert node.start().wait(60) == LEFT
    final = node.read("final.json")
    assert (final["reason"], final["delivered"]) == ("exited", False)
    assert final["at"] >= final["exits"][0]["at"] + 0.5, "its end is when it left"
    for name in ("HEADWAY_LEAVE_S", "HEADWAY_TAKEN_AT", "HEADWAY_CARDS"):
        monkeypatch.delenv(name)
    server.up()
    assert node.start().wait(60) == 0
    assert_all_told_once(server, 300)
    told = server.reports[0]["facts"]
    assert (told["cards"], told["taken_at"]) == ([3, 4], 1796087970), "the facts of the one who was there"
    assert server.ended["at"] == final["at"]


def test_an_agent_told_to_leave_stays_as_long_as_it_is_answered(
    node: Node, server: WitnessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_LEAVE_S", "5")
    node.run(sys.executable, "-c", TALKER, "300")
    assert_all_told_once(server, 300)
    assert node.read("final.json")["delivered"] is True
