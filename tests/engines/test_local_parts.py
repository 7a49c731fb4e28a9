"""The local engine's small parts: settings, ports, users, control groups."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.engines.local import cgroups
from headway.engines.local.ports import Ports
from headway.engines.local.settings import VirtualNode, parse_nodes
from headway.engines.protocol import UnixUser
from tests.engines.contract import Plan
from tests.engines.machine import LocalSubject


def test_nodes_are_written_as_name_and_devices() -> None:
    assert parse_nodes("n1:2, n2:4:slot") == (VirtualNode("n1", 2), VirtualNode("n2", 4, "slot"))
    assert parse_nodes("") == ()


@pytest.mark.parametrize("text", ["n1", "n1:0", "n1:-1", "n1:two", "n1:2,n1:2", "../x:2", "n1:2:a b", ":2"])
def test_a_wrong_list_of_nodes_is_refused_by_name(text: str) -> None:
    with pytest.raises(PlatformError) as fault:
        parse_nodes(text)
    assert fault.value.params["field"] == "nodes"


def free_ports(count: int) -> range:
    """A run of ports nobody listens on."""
    for start in range(21000, 31000, count):
        if len(Ports(range(start, start + count), "local").take("j.1", count)) == count:
            return range(start, start + count)
    raise AssertionError("no free ports")


def test_no_port_is_given_twice_while_its_attempt_lives() -> None:
    ports = Ports(free_ports(6), "local")
    first, second = ports.take("j-a.1", 2), ports.take("j-b.1", 2)
    ports.keep("j-c.1", sorted({*ports._among} - {*first, *second}))
    with pytest.raises(PlatformError, match="no free port"):
        ports.take("j-d.1", 1)
    ports.release("j-a.1")
    assert set(ports.take("j-d.1", 2)) == set(first)


def test_a_port_somebody_else_listens_on_is_not_given() -> None:
    among = free_ports(2)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", among[0]))
        listener.listen()
        assert Ports(among, "local").take("j-a.1", 1) == (among[1],)


def test_only_root_can_run_ranks_as_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = LocalSubject(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    order = replace(subject.order(Plan.RUNS), user=UnixUser("ann", 1001, 1001, (1001,), "/home/ann"))
    with pytest.raises(PlatformError, match="only root may run ranks as ann") as fault:
        subject.launch(order)
    assert fault.value.code == "launch-refused"
    assert not subject.places(order.attempt)


def test_version_2_groups_are_made_in_one_tree_with_their_controllers(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (path,) = cgroups.create(tmp_path, "j-a.1", "n1")
    assert path == str(tmp_path / "headway/j-a.1/n1")
    asked = [
        folder / "cgroup.subtree_control" for folder in (tmp_path, tmp_path / "headway", tmp_path / "headway/j-a.1")
    ]
    assert [file.read_text() for file in asked] == ["+pids +memory"] * 3
    assert not Path(path, "cgroup.subtree_control").exists(), "processes and controllers never meet in one group"


def test_version_2_groups_are_killed_at_once(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "cgroup.kill").touch()
    (tmp_path / "cgroup.procs").write_text("11\n12\n")
    (below / "cgroup.procs").write_text("13\n")
    assert cgroups.pids([str(tmp_path)]) == {11, 12, 13}
    cgroups.kill([str(tmp_path)])
    assert (tmp_path / "cgroup.kill").read_text() == "1"


def test_version_1_groups_are_made_where_there_are_controllers(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    (tmp_path / "cpu").mkdir()
    paths = cgroups.create(tmp_path, "j-a.1", "n1")
    assert paths == [str(tmp_path / "pids/headway/j-a.1/n1")]
    cgroups.remove(paths)
    assert list((tmp_path / "pids/headway").iterdir()) == []


def test_where_no_group_can_be_made_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    (tmp_path / "pids/headway").write_text("in the way")
    assert cgroups.create(tmp_path, "j-a.1", "n1") == []
    assert cgroups.create(None, "j-a.1", "n1") == []
    assert cgroups.create(tmp_path / "nowhere", "j-a.1", "n1") == []
