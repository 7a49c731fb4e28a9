"""Evidence as a test wants it: two ranks on two nodes unless said otherwise, times as seconds after noon."""

from datetime import UTC, datetime, timedelta

from headway.diagnosis.evidence import Evidence, LogTail
from headway.domain.attempt import RankExit
from headway.domain.ids import AttemptId, JobId

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)
NAMES = {6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def an_exit(
    rank: int, *, at: float = 0, code: int | None = None, signal: int | None = None, node: str = "", **more: object
) -> RankExit:
    name = NAMES.get(signal or 0)
    values = {"rank": rank, "node": node or f"n{rank}", "at": after(at), "code": code, "signal": signal}
    return RankExit(**{**values, "signal_name": name, **more})  # type: ignore[arg-type]


def an_evidence(*exits: RankExit, logs: dict[int, str | bytes] | None = None, **more: object) -> Evidence:
    """`logs` maps a rank to what it wrote; ranks live on `n<rank>` unless `nodes` is given."""
    tails = {
        rank: LogTail(rank, 0, text if isinstance(text, bytes) else text.encode())
        for rank, text in (logs or {}).items()
    }
    ranks = {each.rank for each in exits} | set(tails) | {0, 1}
    values = {"nodes": {rank: f"n{rank}" for rank in ranks}, "exits": exits, "logs": tails, **more}
    return Evidence(job=JobId("j-22222222"), attempt=AttemptId("j-22222222.1"), **values)  # type: ignore[arg-type]


GLOO_CLOSED = """step 4
[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/ann/train.py", line 14, in step
[rank0]:     m(torch.ones(2, 4)).sum().backward()
[rank0]:   File "/venv/lib/python3.11/site-packages/torch/_tensor.py", line 623, in backward
[rank0]:     torch.autograd.backward(
[rank0]: RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] \
Connection closed by peer [127.0.0.1]:12198. This is typically caused by a remote worker crashing. GLHF!
"""
"""What torch 2.13 on gloo prints on rank 0 when rank 1 is gone."""

BAD_LABEL = """step 4
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/ann/train.py", line 16, in <module>
[rank1]:     step(i)
[rank1]:     ^^^^^^^
[rank1]:   File "/home/ann/data.py", line 10, in step
[rank1]:     raise ValueError("bad label in batch")
[rank1]:   File "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1779, in _call_impl
[rank1]:     return forward_call(*args, **kwargs)
[rank1]: ValueError: bad label in batch
"""

WATCHDOG = """step 4
[rank0]:[E1103 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15734, \
OpType=ALLREDUCE, NumelIn=220084533, NumelOut=220084533, Timeout(ms)=600000) ran for 600031 milliseconds
[rank0]:[E1103 ProcessGroupNCCL.cpp:684] [Rank 0] To avoid data inconsistency, we are taking the entire process down.
terminate called after throwing an instance of 'c10::DistBackendError'
"""

TORCHRUN_SUMMARY = """E1103 20:00:02.220000 5200 torch/distributed/elastic/multiprocessing/api.py:869] \
failed (exitcode: {code})
Traceback (most recent call last):
  File "/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 264, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-03_20:00:0{second}
  host      : n0
  rank      : {rank} (local_rank: {local})
  exitcode  : {code} (pid: 5209)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""
"""As torchrun prints it, in the local time of a node eight hours ahead of UTC."""
