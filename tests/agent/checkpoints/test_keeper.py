"""The agent tells of checkpoints that its ranks' framework saved, with the end at the latest, and once each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.agent.node import Node
from tests.agent.test_user import USER, open_node
from tests.agent.witness_server import WitnessServer, wait_for

__all__ = ["open_node"]

SAVE = """
import os, pathlib, torch
root = pathlib.Path(os.environ["HEADWAY_CHECKPOINT_DIR"])
torch.save({"step": 2}, root / "ckpt_2.pt")
(root / "ckpt_3.pt").write_bytes(b"PK half of it")
"""


def seen(server: WitnessServer) -> dict[str, tuple[int | None, str | None]]:
    found = [each for report in server.reports for each in report.get("checkpoints", [])]
    assert len({each["path"] for each in found}) == len(found)
    return {each["path"]: (each["step"], each["reason"]) for each in found}


def test_what_a_framework_saved_is_told_with_the_end(node: Node, server: WitnessServer, tmp_path: Path) -> None:
    root = tmp_path / "checkpoints"
    root.mkdir()
    node.run(sys.executable, "-c", SAVE, checkpoint_dir=str(root))
    assert seen(server) == {"ckpt_2.pt": (2, None), "ckpt_3.pt": (3, "cut-short")}
    ended = next(report for report in server.reports if report["ended"])
    told = next(report for report in server.reports if report.get("checkpoints"))
    assert told["seq"] <= ended["seq"]


def test_the_sdks_own_checkpoints_start_no_look(node: Node, server: WitnessServer, tmp_path: Path) -> None:
    root = tmp_path / "checkpoints"
    (root / "step-00000004").mkdir(parents=True)
    (root / "lease.json").write_text("{}")
    node.run("true", checkpoint_dir=str(root))
    assert seen(server) == {}


def test_other_nodes_leave_the_looking_to_the_first(node: Node, server: WitnessServer, tmp_path: Path) -> None:
    (tmp_path / "step_1.pt").write_bytes(b"PK")
    node.run("true", checkpoint_dir=str(tmp_path), node_rank=1, node_count=2)
    assert seen(server) == {}


def test_a_folder_that_is_not_there_holds_up_nothing(node: Node, server: WitnessServer, tmp_path: Path) -> None:
    node.run("true", checkpoint_dir=str(tmp_path / "nowhere"))
    assert seen(server) == {}
    assert server.ended is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts ranks as others")
def test_the_looking_is_done_as_the_jobs_user(open_node: Node, server: WitnessServer, tmp_path: Path) -> None:
    root = tmp_path / "checkpoints"
    root.mkdir(mode=0o755)
    (root / "step_1.pt").write_bytes(b"PK")
    (root / "step_1.pt").chmod(0o600)
    open_node.run("true", checkpoint_dir=str(root), user=USER, workdir="/")
    assert seen(server) == {"step_1.pt": (1, "unreadable")}


def test_what_the_server_lets_go_is_deleted_once_and_told(node: Node, server: WitnessServer, tmp_path: Path) -> None:
    root = tmp_path / "checkpoints"
    for step in (1, 2):
        (root / f"checkpoint-{step}").mkdir(parents=True)
    (root / "way").symlink_to(tmp_path)
    (tmp_path / "outside").mkdir()
    server.discard = [{"path": path, "bytes": None} for path in ("checkpoint-1", "way/outside", "../outside")]
    node.write_order("sh", "-c", "sleep 100", checkpoint_dir=str(root))
    node.start()
    wait_for(lambda: len(told_of_discards(server)) >= 3, "the words on what was deleted")
    assert told_of_discards(server)[:3] == [("checkpoint-1", None), ("way/outside", "link"), ("../outside", "outside")]
    assert sorted(path.name for path in root.iterdir()) == ["checkpoint-2", "way"]
    assert (tmp_path / "outside").is_dir()


def told_of_discards(server: WitnessServer) -> list[tuple[str, str | None]]:
    return [(each["path"], each["kept"]) for report in server.reports for each in report.get("discarded", [])]
