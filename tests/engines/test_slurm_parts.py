"""What Slurm's commands print, recorded on 22.05, and what is read from it; what it is asked for."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Launcher
from headway.domain.resources import Maker, NodeState, Occupied
from headway.engines.protocol import Cause, Charge, EngineConfig, LaunchOrder, NodeOrder
from headway.engines.slurm.books import read_books
from headway.engines.slurm.hostlist import expand
from headway.engines.slurm.inventory import read_duration, read_nodes, read_partitions, read_switches
from headway.engines.slurm.jobs import Job, find, read_jobs, read_past_jobs
from headway.engines.slurm.occupancy import coming_end, occupied
from headway.engines.slurm.place import Place
from headway.engines.slurm.script import batch
from headway.engines.slurm.settings import SlurmSettings, read_settings

NODE = (
    "NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUEfctv=64 CPUTot=64 AvailableFeatures=h200,ib ActiveFeatures=h200,ib {gres} "
    "NodeAddr=10.0.0.1 NodeHostName=vm OS=Linux 6.18 #1 SMP @0  RealMemory=512000 State={state} Partitions=main,h200 "
    "CfgTRES=cpu=64,mem=500G{reason}"
)
QUEUE = """\
1|RUNNING|0|n[1-2]|root|default|n[1-2]|1796100420|1796104020|cpu=16,mem=4G,node=2,gres/gpu=4,gres/gpu:h200=4|j-a.1|headway:j-a.1|
2|RUNNING|0|n3|ann|proja|n3|1796100420|NONE|cpu=1,node=1,gres/gpu=3|w|x|y.sh|(null)|
7|PENDING|0|(Resources)|root|default||N/A|N/A|cpu=8,node=1,gres/gpu=1,gres/gpu:h200=1|j-b.1|headway:j-b.1|
"""
PAST = """\
1|CANCELLED by 0|0:0|root|n[1-2]|1796100420|1796100440|j-a.1|headway:j-a.1
5|NODE_FAIL|1:0|root|n2|1796100420|1796100440|j-b.1|headway:j-b.1
"""
SETTINGS = SlurmSettings(Path("/records"), Path("/share"), Path("/agent.pyz"), python="python3")
ORDER = LaunchOrder(
    attempt=AttemptId("j-7f3k2m9q.1"),
    job=JobId("j-7f3k2m9q"),
    number=1,
    nodes=(NodeOrder("n1", (0, 1), (0,)), NodeOrder("n2", (4, 5), (1,))),
    device_type="h200",
    launcher=Launcher.RANKS,
    command=("true",),
    env={},
    workdir=None,
    server_url="http://server:8470",
    token="t",
    grace=timedelta(seconds=30),
)


def node(gres: str = "Gres=gpu:h200:8", state: str = "IDLE", reason: str = "") -> str:
    return NODE.format(gres=gres, state=state, reason=reason)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("n[1-3,07],login", ["n1", "n2", "n3", "n07", "login"]),
        ("r[1-2]n[08-09]", ["r1n08", "r1n09", "r2n08", "r2n09"]),
        ("(null)", []),
    ],
)
def test_host_lists_are_spelled_out(text: str, hosts: list[str]) -> None:
    assert list(expand(text)) == hosts


@given(st.lists(st.integers(0, 200), min_size=1, unique=True))
def test_a_host_list_of_single_numbers_names_each(numbers: list[int]) -> None:
    assert expand(f"n[{','.join(map(str, numbers))}]") == tuple(f"n{number}" for number in numbers)


@pytest.mark.parametrize(
    ("state", "reason", "seen"),
    [
        ("MIXED", "", (NodeState.UP, None)),
        ("IDLE+DRAIN", " Reason=fan, see 7 [root@1796100419]", (NodeState.CORDONED, "fan, see 7")),
        ("DOWN*+DRAIN", " Reason=Not responding [slurm@1796100419]", (NodeState.DOWN, "Not responding")),
        ("IDLE+NOT_RESPONDING", "", (NodeState.UNKNOWN, "idle+not_responding")),
        ("IDLE+MAINTENANCE", "", (NodeState.CORDONED, "idle+maintenance")),
        ("IDLE+PLANNED", "", (NodeState.UP, None)),
    ],
)
def test_a_nodes_state_and_reason_are_the_sites(state: str, reason: str, seen: tuple[NodeState, str | None]) -> None:
    (found,) = read_nodes(node(state=state, reason=reason), {}, {})
    assert (found.state, found.reason) == seen


def test_a_node_of_two_types_is_two_nodes_and_one_of_none_is_none() -> None:
    found = read_nodes(node("Gres=gpu:h200:6(S:0-1),gpu:l40s:2"), {"n1": "leaf1"}, {})
    assert [(each.name, each.host, each.device_type, each.devices) for each in found] == [
        ("n1-h200", "n1", "h200", 6),
        ("n1-l40s", "n1", "l40s", 2),
    ]
    assert found[0].labels == {"features": "h200,ib", "switch": "leaf1"}
    assert read_nodes(node("Gres=(null)"), {}, {}) == ()


def test_the_maker_follows_from_the_type_unless_the_site_says() -> None:
    (ascend,) = read_nodes(node("Gres=npu:910b:8"), {}, {})
    (said,) = read_nodes(node("Gres=gpu:x1:8"), {}, {"x1": Maker.ASCEND})
    assert (ascend.maker, said.maker) == (Maker.ASCEND, Maker.ASCEND)


def test_switches_and_partitions_are_read() -> None:
    tree = "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=spine Level=1 Nodes=n[1-4] Switches=leaf1\n"
    assert read_switches(tree) == {"n1": "leaf1", "n2": "leaf1"}
    rows = read_partitions(
        "PartitionName=main Default=YES MaxTime=UNLIMITED\nPartitionName=b Default=NO MaxTime=2-01:00:00"
    )
    assert [row.max_time for row in rows] == [None, timedelta(days=2, hours=1)]
    assert read_duration("00:30:00") == timedelta(minutes=30)


def test_jobs_are_read_whatever_people_call_them() -> None:
    first, second, third = read_jobs(QUEUE + "a torn line")
    assert (first.hosts, first.gres, first.is_waiting) == (("n1", "n2"), {"h200": 4}, False)
    assert (second.name, second.ends, second.gres) == ("w", None, {"gpu": 3})
    assert (third.reason, third.is_waiting, third.hosts) == ("Resources", True, ())


def test_past_jobs_have_their_cause() -> None:
    cancelled, failed = read_past_jobs(PAST)
    assert (cancelled.cause, failed.cause) == (Cause.CANCELLED, Cause.NODE_FAIL)
    assert cancelled.is_over


@pytest.mark.parametrize(
    ("state", "steps", "cause"),
    [
        ("FAILED", "253", Cause.OUT_OF_MEMORY),
        ("COMPLETED", "125", Cause.OUT_OF_MEMORY),
        ("FAILED", "0:125", Cause.OUT_OF_MEMORY),
        ("FAILED", "125:0", None),
        ("FAILED", "32000", None),
        ("FAILED", "9", None),
        ("TIMEOUT", "253", Cause.TIMEOUT),
        ("RUNNING", "253", None),
    ],
)
def test_a_job_whose_steps_ran_out_of_memory_did_whatever_its_script_made_of_it(
    state: str, steps: str, cause: Cause | None
) -> None:
    (job, *_) = read_jobs(QUEUE.replace("RUNNING|0", f"{state}|{steps}"))
    (past, _) = read_past_jobs(PAST.replace("CANCELLED by 0|0:0", f"{state}|{steps}"))
    assert (job.cause, past.cause) == (cause, cause)


def test_books_count_every_incarnation_of_an_attempts_jobs_and_nobody_elses() -> None:
    text = """\
COMPLETED|10|cpu=16,gres/gpu=4,gres/gpu:h200=4|j-a.1|headway:j-a.1
NODE_FAIL|3|cpu=16,gres/npu=2,gres/npu:910b=2|j-a.1|headway:j-a.1
RUNNING|7|cpu=1,gres/gpu=1|j-b.1|headway:j-b.1
CANCELLED by 0|0||j-c.1|headway:j-c.1
COMPLETED|99|cpu=1,gres/gpu=8|j-d.1|
COMPLETED|99|cpu=1,gres/gpu=8|a|b|headway:a
a torn line
"""
    assert read_books(text) == (
        Charge(AttemptId("j-a.1"), 46),
        Charge(AttemptId("j-b.1"), 7, is_open=True),
        Charge(AttemptId("j-c.1"), 0),
    )


@pytest.mark.parametrize(
    ("final", "held_until"),
    [({"at": 100.0, "left": True}, 103.0), ({"at": 105.0, "left": True}, 105.0), ({"at": 100.0}, 100.0)],
)
def test_an_agent_that_left_with_something_untold_went_when_its_job_was_over(
    tmp_path: Path, final: dict[str, object], held_until: float
) -> None:
    place = Place(tmp_path, AttemptId("j-a.1"), "n1")
    place.path.mkdir(parents=True)
    (place.path / "final.json").write_text(json.dumps(final))
    with place.locked() as mine:
        assert mine
        place.held_until(103.0, None)
        assert place.final() == final, "an agent lives"
    place.held_until(103.0, None)
    assert place.final() == final | {"at": held_until}


def test_an_attempts_job_needs_its_name_its_comment_and_its_owner() -> None:
    jobs = read_jobs(QUEUE)
    assert find("j-a.1", "root", jobs) == jobs[0]
    assert find("j-a.1", "ann", jobs) is None
    assert find("j-a.1", "root", [replace(jobs[0], comment="(null)")]) is None
    over = replace(jobs[0], id="99", state="FAILED")
    assert find("j-a.1", "root", [over, jobs[0]]) == jobs[0], "the one that lives, though its id is lower"


def test_others_devices_are_spread_over_their_nodes_and_rounded_up() -> None:
    nodes = read_nodes(node() + "\n" + node().replace("n1", "n2"), {}, {})
    job = Job("4", "RUNNING", "bob", ("n1", "n2"), "w", "", gres={"h200": 5})
    assert occupied([job], nodes, lambda _: False) == (Occupied("n1", 3, "bob"), Occupied("n2", 3, "bob"))
    assert occupied([job], nodes, lambda _: True) == ()


def test_an_end_before_the_limit_is_a_preemption() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    job = Job("4", "RUNNING", "ann", ("n1",), "a", "", started=start, ends=start + timedelta(hours=2))
    now, notice, attempt = start + timedelta(minutes=119), timedelta(minutes=2), AttemptId("a.1")
    reasons = [coming_end(attempt, job, limit, notice, now) for limit in (timedelta(hours=2), timedelta(hours=9), None)]
    assert [each.reason for each in reasons if each] == ["time-limit", "preempted", "preempted"]
    assert coming_end(attempt, job, None, notice, start) is None


def test_a_batch_names_its_nodes_devices_share_and_mark() -> None:
    nodes = [*read_nodes(node(), {}, {}), *read_nodes(node().replace("n1", "n2"), {}, {})]
    settings = replace(SETTINGS, accounts={"vision": "va"}, qos="high")
    asked = batch(replace(ORDER, project="vision"), nodes, settings, timedelta(hours=1), Path("/share/a.pyz"))
    wanted = {
        "--nodelist=n1,n2",
        "--gpus-per-node=h200:2",
        "--no-requeue",
        "--comment=headway:j-7f3k2m9q.1",
        "--time=60",
    }
    wanted |= {"--cpus-per-task=16", "--mem=128000M", "--account=va", "--qos=high", "--signal=URG@120"}
    assert wanted <= set(asked.words)
    assert "t" not in asked.script.split()
    settings = replace(settings, qoses={"vision": "urgent", "nlp": "low"})
    asked = batch(replace(ORDER, project="vision"), nodes, settings, None, Path("/share/a.pyz"))
    assert "--qos=urgent" in asked.words


def test_gres_that_is_no_gpu_is_asked_for_by_its_name_and_without_limit_there_is_no_signal() -> None:
    nodes = [*read_nodes(node("Gres=npu:910b:8"), {}, {})]
    asked = batch(replace(ORDER, nodes=ORDER.nodes[:1]), nodes, SETTINGS, None, Path("/share/a.pyz"))
    assert {"--gres=npu:910b:2", "--time=UNLIMITED"} <= set(asked.words)
    assert not any(word.startswith("--signal") for word in asked.words)
    assert "ASCEND_RT_VISIBLE_DEVICES" in asked.script


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "missing-field"),
        ({"share": "relative"}, "invalid-field"),
        ({"share": "/with blank"}, "invalid-field"),
        ({"share": "/s", "colour": "red"}, "unknown-field"),
        ({"share": "/s", "ports": "9-1"}, "invalid-field"),
        ({"share": "/s", "makers": "x=acme"}, "invalid-field"),
        ({"share": "/s", "agent": "mail"}, "invalid-field"),
    ],
)
def test_options_that_are_wrong_are_named(options: dict[str, str], code: str) -> None:
    config = EngineConfig(Path("/r"), Path("/a.pyz"), "python3", timedelta(seconds=1), options=options)
    with pytest.raises(PlatformError) as fault:
        read_settings(config)
    assert fault.value.code == code
