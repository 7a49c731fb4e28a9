"""Nodes: the engines say what there is, operators say what is kept free, and the world moves only with a change."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.resources import Maker, NodeState
from headway.store import nodes, world
from headway.store.nodes import Cordon
from tests.store.rows import NOW, a_node, later


def test_an_inventory_is_kept_and_changes_the_world_only_when_it_differs(c: Connection) -> None:
    version = world.version(c)
    inventory = [a_node("n2", labels={"rack": "甲"}), a_node("n1", maker=Maker.ASCEND, reason="new")]
    assert nodes.put(c, inventory, NOW)
    assert world.version(c) == version + 1
    assert nodes.all(c) == inventory[::-1]
    assert not nodes.put(c, inventory, later(1))
    assert world.version(c) == version + 1
    assert nodes.put(c, [a_node("n2", devices=4), inventory[1]], later(2))
    assert world.version(c) == version + 2


def test_a_node_its_engine_no_longer_shows_is_down_until_it_is_shown_again(c: Connection) -> None:
    nodes.put(c, [a_node("n1"), a_node("n2")], NOW)
    nodes.put(c, [a_node("s1", engine="slurm")], NOW)
    assert nodes.put(c, [a_node("n1")], later(1))
    states = {node.name: node.state for node in nodes.all(c)}
    assert states == {"n1": NodeState.UP, "n2": NodeState.DOWN, "s1": NodeState.UP}
    assert not nodes.put(c, [a_node("n1")], later(2))
    assert nodes.put(c, [a_node("n1"), a_node("n2")], later(3))
    assert {node.state for node in nodes.all(c)} == {NodeState.UP}


def test_a_cordon_outlives_inventories_until_the_node_is_set_up(c: Connection) -> None:
    nodes.put(c, [a_node()], NOW)
    version = world.version(c)
    nodes.cordon(c, "n1", Cordon("fan is loud"))
    assert world.version(c) == version + 1
    cordoned = replace(a_node(), state=NodeState.CORDONED, reason="fan is loud")
    assert nodes.all(c) == [cordoned]
    nodes.put(c, [a_node(labels={"rack": "2"})], later(1))
    assert nodes.all(c) == [replace(cordoned, labels={"rack": "2"})]
    nodes.set_state(c, "n1", NodeState.UP, None)
    assert nodes.all(c) == [a_node(labels={"rack": "2"})]


def test_a_cordon_needs_no_reason(c: Connection) -> None:
    nodes.put(c, [a_node()], NOW)
    nodes.cordon(c, "n1", Cordon(""))
    assert nodes.all(c) == [a_node(state=NodeState.CORDONED)]


def test_a_cordoned_node_that_is_down_is_shown_as_down(c: Connection) -> None:
    nodes.put(c, [a_node()], NOW)
    nodes.cordon(c, "n1", Cordon("fan"))
    nodes.set_state(c, "n1", NodeState.DOWN, "no answer")
    assert nodes.all(c) == [a_node(state=NodeState.DOWN, reason="no answer")]
    nodes.put(c, [a_node()], later(1))
    assert nodes.all(c) == [a_node(state=NodeState.CORDONED, reason="fan")]


def test_a_node_that_is_not_there_cannot_be_cordoned(c: Connection) -> None:
    with pytest.raises(PlatformError, match="not-found"):
        nodes.cordon(c, "n9", Cordon("fan"))
