"""What an attempt meets on a real Slurm: devices, users, limits, queues, other people; how the engine tells of it."""

import asyncio
import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from headway.domain.errors import PlatformError
from headway.domain.resources import Maker, Node, NodeState
from headway.engines.protocol import (
    CordonKind,
    Finding,
    LaunchOrder,
    NodeOrder,
    Observation,
    Preflight,
    Sight,
    UnixUser,
)
from headway.engines.slurm.commands import Answer, Commands
from headway.engines.slurm.cordon import Cordoning
from headway.engines.slurm.settings import SlurmSettings
from tests.engines.contract import Plan
from tests.engines.recorder import Recorder
from tests.engines.slurm_site import SlurmSubject
from tests.engines.slurm_testbed import running
from tests.engines.somebody import account
from tests.live.seeds import exhaustive

pytestmark = pytest.mark.live
LOOK = 'echo "$CUDA_VISIBLE_DEVICES;$ASCEND_RT_VISIBLE_DEVICES;$MASTER_ADDR;$(id -un);$HOME;$(hostname)" > {out}.$RANK'


@pytest.fixture
def folder() -> Iterator[Path]:
    """A share that every user can reach, which a test's own folder is not."""
    path = Path("/tmp", f"headway-slurm-{os.getpid()}")
    path.mkdir(mode=0o777)
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def somebody() -> Iterator[UnixUser]:
    """A real account. To be asked for before `slurm`, so that its jobs are gone when it is removed."""
    with account() as user:
        yield user


def looking(subject: SlurmSubject, nodes: tuple[str, ...], devices: int, folder: Path | None = None) -> LaunchOrder:
    """An attempt whose ranks write down what they see."""
    order = subject.order(Plan.SUCCEEDS)
    parts = tuple(NodeOrder(node, tuple(range(devices)), (index,)) for index, node in enumerate(nodes))
    out = shlex.quote(str((folder or subject.folder) / order.attempt))
    return replace(order, nodes=parts, command=("sh", "-c", LOOK.format(out=out)))


def seen_by(subject: SlurmSubject, order: LaunchOrder, folder: Path | None = None) -> list[list[str]]:
    """What each rank wrote, after the attempt's end."""
    subject.until_seen(Sight.ENDED, subject.launch(order))
    outs = [(folder or subject.folder) / f"{order.attempt}.{rank}" for rank in range(len(order.nodes))]
    return [out.read_text().strip().split(";") for out in outs]


def cards(subject: SlurmSubject, recorder: Recorder, order: LaunchOrder) -> dict[str, object]:
    """By node, which cards the attempt's agents said they had; an end is seen on the share before it is told."""
    subject.until(lambda: len(recorder.first_reports(order.attempt)) == len(order.nodes), "every first report")
    told: list[tuple[str, dict[str, Any]]] = recorder.first_reports(order.attempt)
    return {node: report["facts"]["cards"] for node, report in told}


def inventory(subject: SlurmSubject) -> dict[str, Node]:
    return {node.name: node for node in asyncio.run(subject.engine.inventory()).nodes}


def submit(subject: SlurmSubject, *words: str) -> str:
    """A running job of somebody who does not use Headway."""
    number = subject.testbed.run("sbatch", "--parsable", "--output=/dev/null", *words, "--wrap=sleep 600").strip()
    subject.until(
        lambda: subject.testbed.run("squeue", "-h", "-j", number, "-o", "%T").strip() == "RUNNING", "it to run"
    )
    return number


def only(subject: SlurmSubject, order: LaunchOrder) -> Observation:
    (seen,) = subject.observe(subject.launch(order))
    return seen


def test_nodes_have_their_types_makers_switches_and_states(slurm: SlurmSubject) -> None:
    first, second, _, last = slurm.all_nodes
    slurm.testbed.run("scontrol", "update", f"nodename={first}", "state=drain", "reason=fan replaced, see ticket 7")
    nodes = inventory(slurm)
    assert [node.device_type for node in nodes.values()] == ["h200", "h200", "ascend910b", "ascend910b"]
    assert {node.devices for node in nodes.values()} == {8}
    assert (nodes[first].maker, nodes[last].maker) == (Maker.NVIDIA, Maker.ASCEND)
    assert (nodes[first].state, nodes[first].reason) == (NodeState.CORDONED, "fan replaced, see ticket 7")
    assert nodes[first].labels["switch"] == nodes[second].labels["switch"] != nodes[last].labels["switch"]


def test_ranks_see_exactly_the_devices_that_slurm_gave_and_meet_at_the_first_node(
    slurm: SlurmSubject, recorder: Recorder
) -> None:
    submit(slurm, f"--nodelist={slurm.nodes[0]}", "--gpus-per-node=h200:2")
    order = looking(slurm, slurm.nodes, 3)
    rows = seen_by(slurm, order)
    # The node's own numbers go into the record.
    assert cards(slurm, recorder, order) == {slurm.nodes[0]: [2, 3, 4], slurm.nodes[1]: [0, 1, 2]}
    # Relative numbers, because this site constrains devices; the other job's two are not among them.
    assert [row[:2] for row in rows] == [["0,1,2", ""]] * 2
    assert {row[2] for row in rows} == {
        slurm.testbed.run("sinfo", "-hNn", slurm.nodes[0], "-p", "main", "-o", "%o").strip()
    }
    assert [row[5] for row in rows] == list(slurm.nodes)


def test_ascend_ranks_have_their_makers_variable_alone(slurm: SlurmSubject, recorder: Recorder) -> None:
    submit(slurm, f"--nodelist={slurm.all_nodes[2]}", "--gpus-per-node=1")
    order = looking(slurm, (slurm.all_nodes[2],), 2)
    (row,) = seen_by(slurm, order)
    assert row[:2] == ["", "1,2"]
    assert cards(slurm, recorder, order) == {slurm.all_nodes[2]: [1, 2]}


@exhaustive
def test_a_site_that_constrains_no_devices_numbers_them_as_the_node_does(
    shared: Path, tmp_path: Path, agent_zipapp: Path
) -> None:
    words = ("--types", "h200:2", "--isolation", "net", "--cgroup", "off", "--accounting")
    with running(shared, words) as testbed, Recorder(testbed.host) as recorder:
        subject = SlurmSubject(tmp_path, testbed, agent_zipapp, recorder)
        submit(subject, f"--nodelist={subject.nodes[0]}", "--gpus-per-node=h200:2")
        order = looking(subject, subject.nodes[:1], 3)
        assert [row[:2] for row in seen_by(subject, order)] == [["2,3,4", ""]]
        assert cards(subject, recorder, order) == {subject.nodes[0]: [2, 3, 4]}


def test_ranks_run_as_the_submitter_and_so_does_the_job(somebody: UnixUser, folder: Path, slurm: SlurmSubject) -> None:
    slurm.testbed.run("sacctmgr", "-i", "add", "user", somebody.name, "account=default")
    agent = Path(shutil.copy(slurm.settings.agent, folder))
    slurm.change(share=folder / "share", agent=agent)
    order = replace(looking(slurm, (slurm.nodes[0],), 1, folder), user=somebody)
    (row,) = seen_by(slurm, order, folder)
    assert row[3:5] == [somebody.name, somebody.home]
    assert somebody.name in slurm.testbed.run("squeue", "-h", "-t", "all", "-n", order.attempt, "-o", "%u")
    place = folder / "share" / order.attempt / slurm.nodes[0]
    assert (place.stat().st_uid, place.parent.stat().st_uid) == (somebody.uid, 0)
    assert [(place / name).stat().st_mode & 0o777 for name in ("order.json", "token")] == [0o600, 0o600]
    assert slurm.sights(slurm.launch(order)) == [Sight.ENDED]


def test_a_preflight_submits_as_the_mapped_users_and_names_whom_slurm_refuses(
    somebody: UnixUser, slurm: SlurmSubject
) -> None:
    def found() -> Finding:
        findings = asyncio.run(cast(Preflight, slurm.engine).check(slurm.server_url, [somebody]))
        return next(each for each in findings if each.code == "check-slurm-users")

    assert found().ok is False
    assert somebody.name in found().params["detail"]
    slurm.testbed.run("sacctmgr", "-i", "add", "user", somebody.name, "account=default")
    assert (found().ok, found().params["detail"]) == (True, somebody.name)
    assert not slurm.testbed.run("squeue", "-h", "-u", somebody.name), "nothing was submitted"


def test_what_slurm_refuses_is_refused_in_its_words_and_leaves_nothing(slurm: SlurmSubject) -> None:
    slurm.change(account="nobodys")
    order = slurm.order(Plan.RUNS)
    with pytest.raises(PlatformError, match="Invalid account") as refusal:
        slurm.launch(order)
    assert refusal.value.code == "launch-refused"
    assert not (slurm.settings.share / order.attempt).exists()
    slurm.change(account=None)
    slurm.until_seen(Sight.RUNNING, slurm.launch(order))


def test_a_launch_that_waits_says_why_and_can_be_withdrawn(slurm: SlurmSubject) -> None:
    submit(slurm, f"--nodelist={slurm.nodes[0]}", "--gpus-per-node=h200:8")
    order = slurm.order(Plan.RUNS)
    handle = slurm.launch(order)
    slurm.until(lambda: slurm.observe(handle)[0].waiting == "Resources", "Slurm's reason")
    assert (only(slurm, order).sight, only(slurm, order).late) == (Sight.RUNNING, False)
    slurm.clock.advance(121)
    assert only(slurm, order).late
    slurm.stop(handle)
    slurm.until_seen(Sight.ENDED, handle)
    assert only(slurm, order).detail == "withdrawn"
    assert slurm.starts(order.attempt) == 0


def test_other_peoples_jobs_are_occupancy_with_their_ends_and_ours_are_not(slurm: SlurmSubject) -> None:
    number = submit(slurm, f"--nodelist={','.join(slurm.nodes)}", "--nodes=2", "--gpus-per-node=h200:3", "--time=30")
    impostor = submit(
        slurm, f"--nodelist={slurm.all_nodes[2]}", "--gpus-per-node=1", "--comment=headway:x", "--job-name=x"
    )
    slurm.launch_running(Plan.RUNS)
    slurm.until(lambda: len(asyncio.run(slurm.engine.occupied())) == 3, f"jobs {number} and {impostor} to run")
    found = asyncio.run(slurm.engine.occupied())
    assert [(each.node, each.devices, each.by) for each in found] == [
        (slurm.nodes[0], 3, "root"),
        (slurm.nodes[1], 3, "root"),
        (slurm.all_nodes[2], 1, "root"),
    ]
    ends = found[0].until
    assert ends is not None
    assert abs(ends - slurm.clock() - timedelta(minutes=30)) < timedelta(minutes=1)


def test_a_cordon_drains_with_its_reason_and_is_taken_back_but_the_sites_own_is_not(slurm: SlurmSubject) -> None:
    ours, theirs = slurm.nodes
    assert asyncio.run(slurm.engine.cordon(ours, "two lost cards")) is CordonKind.DRAINED
    slurm.testbed.run("scontrol", "update", f"nodename={theirs}", "state=drain", "reason=cabling")
    slurm.reopen()
    assert [inventory(slurm)[name].reason for name in slurm.nodes] == ["headway: two lost cards", "cabling"]
    for name in slurm.nodes:
        asyncio.run(slurm.engine.uncordon(name))
    wanted = [NodeState.UP, NodeState.CORDONED]
    slurm.until(lambda: [inventory(slurm)[name].state for name in slurm.nodes] == wanted, "one node to be back")


# Slurm looks for limits every half minute.
@exhaustive
@pytest.mark.slow
def test_an_end_at_the_time_limit_is_noticed_before_and_ranks_hear_of_it(slurm: SlurmSubject) -> None:
    slurm.change(time_limit=timedelta(minutes=1), notice=timedelta(seconds=120))
    order = slurm.order(Plan.RUNS, grace_s=5)
    told = shlex.quote(str(slurm.folder / "told"))
    marker = shlex.quote(str(slurm.folder / f"starts-{order.attempt}"))
    rank = f"trap 'cp $HEADWAY_RANK_DIR/control.json {told}; exit 0' TERM; echo start >> {marker}; sleep 600 & wait"
    handle = slurm.launch(replace(order, command=("sh", "-c", rank)))
    slurm.until(lambda: slurm.starts(order.attempt) == 1, "the rank to start")
    slurm.until(lambda: bool(asyncio.run(slurm.engine.notices([handle]))), "the notice")
    (notice,) = asyncio.run(slurm.engine.notices([handle]))
    assert (notice.attempt, notice.reason) == (order.attempt, "time-limit")
    slurm.until_seen(Sight.ENDED, handle)
    assert '"stop":true' in (slurm.folder / "told").read_text()


def test_the_folder_of_an_attempt_goes_once_everything_is_told_and_not_before(
    somebody: UnixUser, folder: Path, slurm: SlurmSubject
) -> None:
    slurm.testbed.run("sacctmgr", "-i", "add", "user", somebody.name, "account=default")
    slurm.change(share=folder / "share", agent=Path(shutil.copy(slurm.settings.agent, folder)))
    runs = slurm.order(Plan.RUNS)
    slurm.launch(runs)
    ends = replace(slurm.order(Plan.SUCCEEDS), user=somebody, command=("true",))
    handle = slurm.launch(ends)
    slurm.until_seen(Sight.ENDED, handle)

    def freed() -> int | None:
        asyncio.run(slurm.engine.observe([handle]))
        return asyncio.run(slurm.engine.clear(ends.attempt))

    found: list[int | None] = []
    slurm.until(lambda: bool(found.append(freed()) or found[-1]), "the folder to go")
    assert asyncio.run(slurm.engine.clear(runs.attempt)) is None
    assert list(asyncio.run(slurm.engine.kept())) == [runs.attempt]


def test_a_preflight_of_a_good_site_finds_nothing_missing(slurm: SlurmSubject) -> None:
    findings = {each.code: each for each in asyncio.run(slurm.engine.check(slurm.server_url))}
    assert {code for code, each in findings.items() if not each.ok} == set(), findings
    assert findings["check-slurm-nodes"].params["detail"] == "ascend910b: 16, h200: 16"


def test_a_preflight_names_what_is_missing(slurm: SlurmSubject) -> None:
    slurm.change(account="nobodys", qos="normal", qoses={"vision": "no-such-qos"}, python="/nowhere/python3")
    found = {each.code: each for each in asyncio.run(slurm.engine.check("http://127.0.0.1:9"))}
    assert [found[f"check-slurm-{what}"].ok for what in ("accounts", "qoses", "job")] == [False, False, False]
    assert found["check-slurm-qoses"].params["detail"] == "no-such-qos"
    slurm.change(account=None, qoses={"vision": "normal"}, python="/usr/bin/python3")
    findings = {each.code: each.ok for each in asyncio.run(slurm.engine.check("http://127.0.0.1:9"))}
    assert [code for code, ok in findings.items() if ok is False] == ["check-slurm-server"]


@pytest.mark.parametrize(
    ("level", "kind"), [("None", CordonKind.EXCLUDED), ("Operator", CordonKind.RESERVED), ("Admin", CordonKind.DRAINED)]
)
def test_a_cordon_is_what_the_servers_admin_level_allows_and_is_taken_back(
    somebody: UnixUser, slurm: SlurmSubject, level: str, kind: CordonKind
) -> None:
    slurm.testbed.run("sacctmgr", "-i", "add", "user", somebody.name, "account=default", f"adminlevel={level}")
    node = slurm.nodes[0]
    cordoning = Cordoning(CommandsOf(slurm.settings, somebody))
    assert cordoning.cordon(node, "two lost cards") is kind
    slurm.reopen()
    shown = NodeState.UP if kind is CordonKind.EXCLUDED else NodeState.CORDONED
    slurm.until(lambda: inventory(slurm)[node].state is shown, f"the node to be {shown}")
    cordoning.uncordon(node, inventory(slurm)[node].reason)
    slurm.until(lambda: inventory(slurm)[node].state is NodeState.UP, "the node to be back")
    assert "headway" not in slurm.testbed.run("scontrol", "show", "reservation")


class CommandsOf(Commands):
    """A server's commands, as if it ran under this account."""

    def __init__(self, settings: SlurmSettings, user: UnixUser) -> None:
        super().__init__(settings, "slurm")
        self._own = user

    def run(self, *argv: str, stdin: str = "", user: UnixUser | None = None) -> Answer:
        return super().run(*argv, stdin=stdin, user=user or self._own)


def test_headway_confined_to_a_partition_sees_no_other_nodes_and_submits_there(slurm: SlurmSubject) -> None:
    first, last = slurm.all_nodes[0], slurm.all_nodes[-1]
    slurm.testbed.run("scontrol", "create", "partitionname=small", f"nodes={first}")
    try:
        slurm.change(partition="small")
        assert list(inventory(slurm)) == [first]
        order = slurm.order(Plan.RUNS)
        slurm.until_seen(Sight.RUNNING, slurm.launch(order))
        assert slurm.testbed.run("squeue", "-h", "-n", order.attempt, "-o", "%P").strip() == "small"
        with pytest.raises(PlatformError, match=f"no node {last}"):
            slurm.launch(slurm.on(slurm.order(Plan.RUNS), last))
    finally:
        slurm.testbed.run("scancel", "--user=root", "--partition=small")
        slurm.until(lambda: not slurm.testbed.run("squeue", "-h", "-p", "small"), "the partition to be empty")
        slurm.testbed.run("scontrol", "delete", "partitionname=small")


def test_an_agent_shipped_by_sbcast_runs_like_one_on_the_share(slurm: SlurmSubject) -> None:
    slurm.change(sbcast=True)
    rows = seen_by(slurm, looking(slurm, slurm.nodes, 1))
    assert len(rows) == 2
    slurm.until(lambda: not list(Path("/tmp").glob("headway-agent.*")), "the nodes' copies to be removed")
