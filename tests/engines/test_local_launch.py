"""Launching, cut off anywhere and repeated, starts ranks once; and what an agent is given and what not."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.engines.local import process
from headway.engines.protocol import LaunchOrder, Sight
from tests.engines.contract import Plan
from tests.engines.machine import LocalSubject

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]

LOOK_ROUND = """
import json, os
descriptors = os.listdir("/proc/self/fd")
print(json.dumps([os.getcwd(), descriptors, os.getsid(0) == os.getpid(), dict(os.environ)]))
"""


def cut_off_everywhere(folder: Path, plan: Plan) -> list[LaunchOrder]:
    argv = [sys.executable, "-m", "tests.engines.cut_off", str(folder), plan]
    subprocess.run(argv, check=True, cwd=ROOT, timeout=120)
    orders: list[LaunchOrder] = pickle.loads((folder / "orders").read_bytes())
    return orders


@pytest.mark.parametrize("plan", [Plan.SUCCEEDS, Plan.RUNS])
def test_a_launch_cut_off_after_any_step_and_repeated_starts_each_rank_once(local: LocalSubject, plan: Plan) -> None:
    orders = cut_off_everywhere(local.folder, plan)
    assert len(orders) > 20
    local.reopen()
    handles = [local.launch(order) for order in orders]
    assert handles == [local.launch(order) for order in orders]
    local.until_seen(Sight.ENDED if plan is Plan.SUCCEEDS else Sight.RUNNING, *handles)
    local.until(lambda: all(local.starts(order.attempt) >= 2 for order in orders), "all ranks to start")
    assert [local.starts(order.attempt) for order in orders] == [2] * len(orders)
    ports = [port for handle in handles for port in (handle.endpoint, handle.data["master_port"])]
    assert len(set(ports)) == 2 * len(orders)


def test_every_node_is_told_the_same_meeting_place_and_only_the_first_the_port(local: LocalSubject) -> None:
    order = local.order(Plan.RUNS, nodes=2, service=True)
    handle = local.launch(order)
    first, second = (local.place(order.attempt, node).read("order.json") for node in local.nodes)
    assert first["master_port"] == second["master_port"] == int(handle.data["master_port"])
    assert (handle.endpoint, second["port"]) == (f"127.0.0.1:{first['port']}", None)
    assert [(told["node_rank"], told["node_count"]) for told in (first, second)] == [(0, 2), (1, 2)]


def test_secrets_of_the_directory_are_readable_by_its_owner_alone(local: LocalSubject) -> None:
    order = local.order(Plan.RUNS)
    local.launch(order)
    place = local.place(order.attempt)
    modes = {path.name: path.stat().st_mode & 0o777 for path in place.path.iterdir() if path.is_file()}
    assert {modes.pop(name) for name in ("order.json", "token", "launch.json", "agent.out", "handle.json")} == {0o600}
    assert place.path.stat().st_mode & 0o777 == place.path.parent.stat().st_mode & 0o777 == 0o711
    assert (place.path / "token").read_text() == order.token


def test_a_new_token_reaches_an_attempt_that_was_launched_with_another(local: LocalSubject) -> None:
    order = local.order(Plan.RUNS)
    local.launch(order)
    local.launch(replace(order, token="t-new"))
    assert (local.place(order.attempt).path / "token").read_text() == "t-new"


def test_a_started_program_gets_no_descriptor_no_secret_and_no_folder_of_ours(
    tmp_path: Path, local: LocalSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_DATABASE_PASSWORD", "hunter2")
    curious = LocalSubject(local.folder, (sys.executable, "-c", LOOK_ROUND))
    with (tmp_path / "open").open("w") as mine:
        os.set_inheritable(mine.fileno(), True)
        order = local.order(Plan.RUNS)
        curious.launch(order)
        out = local.place(order.attempt).path / "agent.out"
        local.until(lambda: out.read_text().endswith("\n"), "the program to print")
    folder, descriptors, leads_its_session, env = json.loads(out.read_text())
    assert (folder, leads_its_session) == ("/", True)
    assert len(descriptors) == 4, "null, output twice, and the listing itself"
    assert "hunter2" not in str(env)
    assert (env["HEADWAY_ATTEMPT"], env["HEADWAY_NODE"]) == (order.attempt, "n1")
    assert set(env) - {"HEADWAY_ATTEMPT", "HEADWAY_NODE", "LC_CTYPE"} <= set(local.settings.inherited)


def test_a_program_that_is_not_there_can_be_tried_again(local: LocalSubject) -> None:
    order = local.order(Plan.SUCCEEDS)
    broken = LocalSubject(local.folder, ("/nowhere/python3", "agent.pyz"))
    with pytest.raises(PlatformError, match="/nowhere/python3") as fault:
        broken.launch(order)
    assert fault.value.code == "engine-unreachable"
    handle = local.launch(order)
    local.until_seen(Sight.ENDED, handle)
    assert local.starts(order.attempt) == 1


def test_ended_agents_leave_no_zombies(local: LocalSubject) -> None:
    order = local.order(Plan.SUCCEEDS)
    handle = local.launch(order)
    pid = local.place(order.attempt).read("launch.json")["pid"]
    local.until(lambda: local.sights(handle) == [Sight.ENDED] and not Path(f"/proc/{pid}").exists(), "no zombie")
    assert pid not in process._children
