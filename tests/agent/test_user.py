"""Ranks run as the order's user and can neither read the order nor write outside their own directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer, wait_for

UID = 64123
USER = {"uid": UID, "gid": UID, "groups": [UID, 64124], "name": "ann", "home": "/tmp"}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="absent: root: only root may start ranks as somebody else")


@pytest.fixture
def open_node(node: Node) -> Node:
    """A node directory that another user can reach, as an engine's run directory can be."""
    for parent in (node.directory.parent, *node.directory.parents):
        if parent == Path("/tmp"):
            break
        parent.chmod(parent.stat().st_mode | 0o011)
    node.zipapp.parent.chmod(0o755)
    node.zipapp.parent.parent.chmod(node.zipapp.parent.parent.stat().st_mode | 0o011)
    return node


def test_a_rank_is_its_user_in_every_respect(open_node: Node, server: WitnessServer) -> None:
    open_node.run("sh", "-c", "id -u; id -g; id -G; echo $HOME $USER", user=USER, workdir="/")
    assert server.logs[0].decode().split("\n")[:4] == [str(UID), str(UID), f"{UID} 64124", "/tmp ann"]


def test_order_token_and_spool_are_closed_to_the_ranks_user(open_node: Node, server: WitnessServer) -> None:
    tries = "for f in order.json token agent.lock spool .; do cat ../$f 2>&1 | head -c 300; ls ../$f 2>&1; done"
    open_node.run("sh", "-c", f"cd $HEADWAY_RANK_DIR; pwd; {tries}; touch ../x", user=USER, workdir=None)
    printed = server.logs[0].decode()
    assert printed.startswith(str(open_node.directory / "rank-0"))
    assert "the-token" not in printed
    assert "j-1" not in printed
    assert printed.count("Permission denied") >= 5
    assert not (open_node.directory / "x").exists()


def test_ranks_of_another_user_die_with_their_agent(open_node: Node) -> None:
    open_node.write_order("sleep", "100", user=USER, workdir="/")
    agent = open_node.start()
    (rank,) = open_node.ranks()
    agent.kill()
    agent.wait(60)
    wait_for(lambda: not Path(f"/proc/{rank['pid']}").exists(), "the rank's death")


def test_links_that_a_rank_lays_are_never_followed(open_node: Node, server: WitnessServer, tmp_path: Path) -> None:
    secret, victim = tmp_path / "secret", tmp_path / "victim"
    secret.write_text(json.dumps({"message": "root's own words"}) + "\n")
    victim.write_text("untouched")
    secret.chmod(0o600)
    lay = (
        f"cd $HEADWAY_RANK_DIR; ln -s {secret} error.json; ln -s {secret} events.jsonl; "
        f"ln -s {victim} control.json; for i in $(seq 300); do ln -s {victim} control.json.$i.new; done; echo ready; "
        "sleep 100"
    )
    open_node.write_order("sh", "-c", lay, user=USER, workdir="/")
    agent = open_node.start()
    wait_for(lambda: server.logs.get(0) == b"ready\n", "the links")
    server.stop = {"reason": "user", "grace_s": 5.0}
    assert agent.wait(60) == 0
    assert server.exits[0]["error"] is None
    assert server.events == {}
    assert victim.read_text() == "untouched"


def test_a_pipe_in_place_of_a_file_never_holds_up_the_agent(open_node: Node, server: WitnessServer) -> None:
    open_node.run("sh", "-c", "cd $HEADWAY_RANK_DIR; mkfifo events.jsonl error.json", user=USER, workdir="/")
    assert server.exits[0]["code"] == 0


def test_a_working_directory_closed_to_the_user_is_a_start_that_failed(open_node: Node, server: WitnessServer) -> None:
    closed = open_node.directory.parent / "closed"
    closed.mkdir(mode=0o700)
    open_node.run("true", user=USER, workdir=str(closed))
    assert server.ended is not None
    assert server.ended["detail"] == f"rank 0: workdir '{closed}': Permission denied"
