"""Which class of cause, whose move, and where in the code."""

import json

import pytest

from headway.diagnosis import describe, examine
from headway.diagnosis.describe import next_step
from headway.diagnosis.examine import ADVICE, is_retry
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.errors import codes
from headway.domain.ids import AttemptId
from tests.diagnosis.builders import BAD_LABEL, GLOO_CLOSED, after, an_evidence, an_exit


def alone(log="", **exit_):
    """A job of one rank that ended this way."""
    return examine(an_evidence(an_exit(0, **exit_), logs={0: log}, nodes={0: "n0"}))


def traced(exception):
    return f'Traceback (most recent call last):\n  File "/home/ann/t.py", line 3, in f\n    x()\n{exception}\n'


def test_every_rank_at_0_is_no_fault():
    verdict = examine(an_evidence(an_exit(0, code=0), an_exit(1, code=0)))
    assert (verdict.fault, verdict.owner, verdict.retry, verdict.confidence) == (Fault.NONE, Owner.NOBODY, False, 1.0)


def test_a_clean_exit_on_one_node_says_nothing_of_the_other():
    assert examine(an_evidence(an_exit(0, code=0))).fault is Fault.UNKNOWN


def test_an_exception_is_the_researchers_with_the_innermost_line_of_their_own_code():
    verdict = alone(BAD_LABEL.replace("rank1", "rank0"), code=1)
    assert (verdict.fault, verdict.owner, verdict.retry) == (Fault.CODE_ERROR, Owner.RESEARCHER, False)
    assert (verdict.location, verdict.detail) == ("/home/ann/data.py:10", "ValueError: bad label in batch")
    assert verdict.lines[0].text == "ValueError: bad label in batch"


def test_the_error_file_speaks_where_the_log_is_silent():
    callstack = 'Traceback (most recent call last):\n  File "/home/ann/t.py", line 7, in main\nKeyError: 3\n'
    verdict = alone("", code=1, error_message="KeyError: 3", error_callstack=callstack, error_at=after(-2))
    assert (verdict.fault, verdict.location, verdict.at) == (Fault.CODE_ERROR, "/home/ann/t.py:7", after(-2))
    assert verdict.lines == ()


@pytest.mark.parametrize(
    ("log", "location"),
    [
        (traced("KeyError: 'x'") + "\nDuring handling of the above exception, another exception occurred:\n\n"
         + traced("OSError: gone").replace("line 3", "line 8"), "/home/ann/t.py:3"),
        (traced("KeyError: 'x'") + "\nThe above exception was the direct cause of the following exception:\n\n"
         + traced("OSError: gone").replace("line 3", "line 8"), "/home/ann/t.py:3"),
        (traced("KeyError: 'x'") + "Exception ignored in: <f>\n" + traced("OSError: x"), "/home/ann/t.py:3"),
        ('  File "/home/ann/t.py", line 2\n', "/home/ann/t.py:2"),
        ('Traceback (most recent call last):\n  File "/home/ann/t.py", line 2\n    x = = 1\nSyntaxError: x\n',
         "/home/ann/t.py:2"),
        ('Traceback (most recent call last):\n  File "/usr/lib/python3.11/runpy.py", line 2, in f\nImportError: x\n',
         None),
        (traced("ValueError: Caught ValueError in DataLoader worker process 0.") + "Original "
         + traced("ValueError: odd").replace("line 3", "line 8"), "/home/ann/t.py:8"),
    ],
)  # fmt: skip
def test_of_chained_tracebacks_the_first_is_located(log, location):
    assert alone(log, code=1).location == location


def test_a_connection_broken_while_cleaning_up_does_not_hide_the_error_before_it():
    log = BAD_LABEL + "\n" + GLOO_CLOSED.replace("rank0", "rank1")
    verdict = examine(an_evidence(an_exit(0, at=1, code=1), an_exit(1, code=1), logs={0: GLOO_CLOSED, 1: log}))
    assert (verdict.fault, verdict.rank, verdict.location) == (Fault.CODE_ERROR, 1, "/home/ann/data.py:10")


def test_an_exception_logged_long_before_the_end_is_not_blamed():
    log = traced("ValueError: upload failed") + "step\n" * 1000
    assert alone(log, signal=9).fault is Fault.KILLED
    assert alone(log, code=3).fault is Fault.UNKNOWN


@pytest.mark.parametrize(
    "said",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB. GPU 2 has 79 GiB",
        "RuntimeError: NPU out of memory. Tried to allocate 386.00 MiB (NPU 2; 60.97 GiB total capacity)",
        "RuntimeError: CUDA error: out of memory",
    ],
)
def test_device_memory_that_ran_out_is_the_researchers(said):
    verdict = alone(traced(said), code=1)
    assert (verdict.fault, verdict.owner, verdict.retry) == (Fault.DEVICE_OUT_OF_MEMORY, Owner.RESEARCHER, False)
    assert verdict.location == "/home/ann/t.py:3"


@pytest.mark.parametrize(
    ("log", "exit_"),
    [
        ("step 9\n", {"signal": 9, "oom_kill": True}),
        ("Memory cgroup out of memory: Killed process 7716 (python3) total-vm:312004512kB\n", {"signal": 9}),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.\n", {"code": 137}),
        (traced("MemoryError"), {"code": 1}),
        (traced("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB"), {"code": 1}),
        (traced("RuntimeError: DataLoader worker (pid 23114) is killed by signal: Killed. "), {"code": 1}),
    ],
)
def test_host_memory_that_ran_out_is_the_researchers_and_not_tried_again(log, exit_):
    verdict = alone(log, **exit_)
    assert (verdict.fault, verdict.owner, verdict.retry) == (Fault.HOST_OUT_OF_MEMORY, Owner.RESEARCHER, False)


def test_a_drill_is_not_mistaken_for_memory_by_words_in_the_log():
    evidence = an_evidence(an_exit(0, signal=9), logs={0: "oom_kill 0\n"}, nodes={0: "n0"}, drill_rank=0)
    assert examine(evidence).fault is Fault.KILLED


@pytest.mark.parametrize(
    ("exit_", "name"), [({"signal": 11}, "SIGSEGV"), ({"code": 139}, "SIGSEGV"), ({"code": -6}, "SIGABRT")]
)
def test_a_segfault_or_abort_is_a_crash_located_by_its_dump(exit_, name):
    dump = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
        '  File "/venv/lib/python3.11/site-packages/torch/_ops.py", line 1, in __call__\n'
        '  File "/home/ann/kernel.py", line 22, in fused\n'
    )
    verdict = alone(dump, **exit_)
    assert (verdict.fault, verdict.signal_name, verdict.location) == (Fault.CRASHED, name, "/home/ann/kernel.py:22")
    assert verdict.detail == "Fatal Python error: Segmentation fault"


def test_a_connection_lost_by_a_job_of_one_rank_has_no_peer_to_follow():
    assert alone(traced("ConnectionResetError: [Errno 104] Connection reset by peer"), code=1).fault is Fault.CODE_ERROR


@pytest.mark.parametrize(
    "said",
    [
        "python3: can't open file '/home/ann/trian.py': [Errno 2] No such file or directory",
        "train.py: error: unrecognized arguments: --lrr",
        "/usr/bin/python3: No module named tran",
        "bash: line 1: trainn: command not found",
    ],
)
def test_a_command_refused_before_it_began_is_the_researchers(said):
    verdict = alone(said + "\n", code=2)
    assert (verdict.fault, verdict.owner, verdict.detail) == (Fault.CODE_ERROR, Owner.RESEARCHER, said)


def test_an_exit_code_alone_is_unknown_and_unsure():
    verdict = alone("step 9\n", code=3)
    assert (verdict.fault, verdict.rank, verdict.code) == (Fault.UNKNOWN, 0, 3)
    assert verdict.confidence < 0.5


def test_nothing_seen_is_unknown():
    verdict = examine(an_evidence())
    assert (verdict.fault, verdict.rank) == (Fault.UNKNOWN, None)


def test_a_failed_launch_is_the_operators_and_tried_again():
    verdict = examine(an_evidence(launch_error="the engine refused: no space left on device"))
    assert (verdict.fault, verdict.owner, verdict.retry) == (Fault.LAUNCH_FAILED, Owner.OPERATOR, True)
    assert verdict.detail == "the engine refused: no space left on device"


@pytest.mark.parametrize(("reason", "retry"), [("user", False), ("preempted", True)])
def test_a_stop_by_headway_is_no_fault_of_a_rank(reason, retry):
    exits = an_exit(0, signal=15, stopped_by_us=True), an_exit(1, code=0)
    verdict = examine(an_evidence(*exits, stop_reason=reason))
    assert (verdict.fault, verdict.rank, verdict.retry, verdict.detail) == (Fault.STOPPED, None, retry, reason)


def test_ranks_that_ended_before_the_stop_arrived_are_clean():
    assert examine(an_evidence(an_exit(0, code=0), an_exit(1, code=0), stop_reason="user")).fault is Fault.NONE


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("drill", [False, True])
def test_every_verdict_is_said_in_both_languages_with_whose_move_it_is(fault, drill):
    owner, advice = ADVICE[fault]
    verdict = Verdict(
        AttemptId("j-2.1"), fault, owner, is_retry(advice), 0.9, rank=1, node="n1", location="t.py:3", drill=drill
    )
    english, chinese = describe(verdict, "en"), describe(verdict, "zh")
    assert english.endswith(("The researcher's move.", "The operator's move.", "Nobody needs to act."))
    assert chinese.endswith(("轮到：研发。", "轮到：运维。", "无需任何人处理。"))
    assert "verdict-" not in english + chinese + next_step(verdict, "en") + next_step(verdict, "zh")


def test_the_drill_reads_well():
    evidence = an_evidence(an_exit(0, at=1, code=1), an_exit(1, signal=9), logs={0: GLOO_CLOSED}, drill_rank=1)
    verdict = examine(evidence)
    assert describe(verdict, "en") == (
        "Rank 1 on n1 was killed by a drill (SIGKILL): Headway did it on purpose. Nobody needs to act."
    )
    assert describe(verdict, "zh") == "n1 上的进程 1 被演练终止（SIGKILL）：这是 Headway 有意为之。无需任何人处理。"


def test_a_code_error_reads_well():
    verdict = alone(BAD_LABEL.replace("rank1", "rank0"), code=1)
    assert describe(verdict, "en") == (
        "Rank 0 on n0 failed in the program at /home/ann/data.py:10: ValueError: bad label in batch. "
        "The researcher's move."
    )
    assert describe(verdict, "zh") == (
        "n0 上的进程 0 在程序 /home/ann/data.py:10 处出错：ValueError: bad label in batch。轮到：研发。"
    )


def test_verdict_messages_exist_in_both_languages():
    wanted = {f"verdict-{fault}" for fault in Fault} | {f"verdict-move-{owner}" for owner in Owner}
    assert wanted <= codes("en") & codes("zh")


def test_lines_of_other_threads_inside_a_traceback_do_not_hide_it():
    log = traced("ValueError: odd").replace("    x()\n", "2026-11-03 12:00:00 step 9\nloss 1.0 lr 2e-4\n    x()\n")
    assert alone(log, code=1).location == "/home/ann/t.py:3"


def test_a_last_exception_without_frames_does_not_hide_where_it_came_from():
    log = (
        traced("RuntimeError: NPU out of memory.")
        + "Traceback (most recent call last):\nRuntimeError: NPU out of memory.\n"
    )
    assert alone(log, code=1).location == "/home/ann/t.py:3"


def test_a_command_that_does_not_exist_is_the_researchers_move():
    verdict = examine(an_evidence(launch_error="[Errno 2] No such file or directory: 'pythn3'"))
    assert (verdict.fault, verdict.owner) == (Fault.LAUNCH_FAILED, Owner.RESEARCHER)


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        ("011", Fault.CRASHED),
        ("014", Fault.HOST_OUT_OF_MEMORY),
        ("015", Fault.DEVICE_OUT_OF_MEMORY),
        ("045", Fault.DEVICE_OUT_OF_MEMORY),
        ("073", Fault.CODE_ERROR),
    ],
)
def test_what_real_machines_printed_is_understood(shared, case, fault):
    folder = shared / "data" / "faultlogs" / case
    truth = json.loads((folder / "case.json").read_text())
    per_node = truth["world_size"] // len(truth["files"])
    nodes = {rank: f"n{rank // per_node}" for rank in range(truth["world_size"])}
    order = sorted(truth["files"], key=lambda name: name not in ("w-0.log", "node-0.log"))
    logs = {index * per_node: (folder / name).read_bytes() for index, name in enumerate(order)}
    exits = [an_exit(rank, at=600, code=1, node=nodes[rank]) for rank in logs]
    verdict = examine(an_evidence(*exits, logs=logs, nodes=nodes))
    assert (verdict.fault, verdict.rank) == (fault, truth["first_failing_rank"])
    assert truth["code_location"] in (None, verdict.location)
