"""Answers of the API as they are on the wire, for goldens: the shapes come from the server's own view types."""

from typing import Any

AT = "2026-12-01T06:20:05Z"


def a_job(**changes: Any) -> dict[str, Any]:
    """A job on the wire."""
    spec = {
        "name": "sft-07",
        "project": "nlp",
        "kind": "training",
        "template": "tiny-gpt@1",
        "command": ["python", "train.py"],
        "request": {"nodes": 2, "devices_per_node": 1, "ranks_per_node": 1, "device_types": []},
        "launcher": "ranks",
        "priority": "normal",
        "parameters": {"steps": "200"},
        "env": {},
        "workdir": None,
        "limit": "PT2H",
        "checkpoint": {"every_steps": 20, "keep": 5},
        "recovery": {"retries": 3, "grace": "PT30S"},
        "dataset": "stdlib@1",
        "commit": None,
        "ready_path": None,
    }
    job = {
        "id": "j-8a0",
        "spec": spec,
        "owner": "ann",
        "state": "running",
        "submitted_at": AT,
        "attempts": 1,
        "failures": 0,
        "step": 120,
        "total": 200,
        "reason": None,
        "ended_at": None,
    }
    return job | changes


def an_attempt(**changes: Any) -> dict[str, Any]:
    """An attempt on the wire."""
    attempt = {
        "id": "j-8a0.1",
        "job": "j-8a0",
        "number": 1,
        "engine": "local",
        "device_type": "cpu",
        "placements": [{"node": "n1", "devices": [0]}, {"node": "n2", "devices": [0]}],
        "state": "running",
        "placed_at": AT,
        "started_at": AT,
        "ended_at": None,
        "outcome": None,
        "resume_from": None,
        "resume_step": 0,
        "step": 120,
        "stop_reason": None,
    }
    return attempt | changes


def a_view(job: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A job with what is known of it, on the wire."""
    view = {
        "job": job or a_job(),
        "devices": 2,
        "attempt": an_attempt(),
        "loss": 0.6931,
        "rate": 3.2,
        "left_s": 3905.0,
        "last_progress_at": AT,
        "reader": "megatron",
        "phase": "training",
        "waits": None,
        "verdict": None,
        "verdict_text": None,
        "next_step": None,
        "held": None,
    }
    return view | changes


def waiting() -> dict[str, Any]:
    """A job that waits for devices, third in line."""
    waits = {
        "position": 3,
        "ahead": ["j-1", "j-2"],
        "reason": "capacity",
        "numbers": {"device_type": "H800", "wanted": 32, "nodes": 4, "free": 24, "held": 0},
        "sentence": "it wants 32 H800 devices on 4 nodes at once; 24 are free in the pool",
        "reserved_at": None,
        "ahead_count": 2,
        "place": None,
        "order": "class normal, within its guarantee",
        "forecast": {
            "job": "j-9",
            "as_of": AT,
            "p50": "2026-12-01T06:20:00Z",
            "p90": "2026-12-01T07:05:00Z",
            "unknown": None,
        },
    }
    job = a_job(id="j-9", state="queued", attempts=0, step=None, total=None)
    nothing = dict.fromkeys(("attempt", "loss", "rate", "left_s", "last_progress_at", "reader", "phase"))
    return a_view(job, **nothing, waits=waits)


def those_before() -> list[dict[str, Any]]:
    """Who stands before it, on the wire."""
    first = {"job": "j-1", "project": "vision", "owner": "bob", "priority": "high", "devices": 16, "starts": AT}
    return [
        first | {"ends": "2026-12-01T08:20:05Z"},
        first | {"job": "j-2", "owner": "eve", "starts": None, "ends": None},
    ]


def broken() -> dict[str, Any]:
    """A job that failed for lack of memory."""
    verdict = {
        "attempt": "j-8a0.1",
        "fault": "host-out-of-memory",
        "owner": "researcher",
        "retry": False,
        "confidence": 0.95,
        "rank": 1,
        "node": "n2",
        "at": AT,
        "signal_name": "SIGKILL",
        "code": None,
        "location": None,
        "detail": "oom",
        "followers": [0],
        "lines": [{"rank": 1, "offset": 9, "text": "Killed process 31", "stream": None}],
        "drill": False,
    }
    job = a_job(state="failed", failures=1, reason="not-worth-retrying", ended_at=AT)
    attempt = an_attempt(state="ended", outcome="failed", ended_at=AT)
    told = {"verdict_text": "Rank 1 on n2 ran out of host memory: oom.", "next_step": "use smaller caches"}
    return a_view(job, attempt=attempt, verdict=verdict, **told)


def held() -> dict[str, Any]:
    """A job that waits for an operator to free a disk."""
    view = broken()
    why = {"at": AT, "reason": "awaits-fix", "fault": "machine-fault", "cause": "DISK_FULL", "owner": "operator"}
    sentence = "Put it right, then: headway release j-8a0"
    return view | {"job": a_job(state="held"), "held": why | {"node": "n2", "sentence": sentence}}


def a_bill(**changes: Any) -> dict[str, Any]:
    """A loss bill on the wire."""
    bill = {
        "job": "j-8a0",
        "failed": "j-8a0.1",
        "fault_at": AT,
        "detected_at": AT,
        "last_step": 42,
        "resumed_step": 40,
        "device_seconds_lost": 1234,
        "resumed": "j-8a0.2",
        "resumed_at": AT,
        "first_step_at": AT,
        "passed_fault_step_at": AT,
    }
    phases = {"detect": 0.25, "stop": 1, "decide": 0.5, "retry": None, "schedule": 0.25, "start": 3, "load": 2.25}
    return {
        "bill": bill | changes,
        "lost_steps": 2,
        "kill_to_first_step_s": 8.25,
        "phases": phases | {"first_step": 1},
        "passing": "passed",
        "way": "node-closed",
        "choice": {"step": 40, "format": "trainer", "other_step": 20, "other_format": "headway"},
    }


def the_losses() -> dict[str, Any]:
    """A job's losses in sum, with three intervals, on the wire."""
    costs = [(10, 2, 9, 40.0, 90.0), (20, 2, 4, 40.0, 40.0), (40, 22, 2, 440.0, 20.0)]
    names = ("every_steps", "lost_steps", "saves", "lost_device_seconds", "saving_device_seconds")
    intervals = [dict(zip(names, cost, strict=True)) | {"device_seconds": sum(cost[3:])} for cost in costs]
    return {
        "failures": 1,
        "lost_steps": 2,
        "device_seconds": 1234,
        "outage_s": 8.25,
        "unfinished": 0,
        "save_s": 0.6,
        "intervals": [each | {"in_use": each["every_steps"] == 20} for each in intervals],
    }


NEVER_READ = {"restore_bytes_per_s": None, "restore_s": None}


def a_storage(**changes: Any) -> dict[str, Any]:
    """What one storage was measured to take, on the wire."""
    view = {
        "storage": "nfs4",
        "kind": "network",
        "in_use": True,
        "saves": 12,
        "write_bytes_per_s": 2.5e8,
        "write_s": 20.0,
        "restores": 2,
        "restore_bytes_per_s": 1.25e9,
        "restore_s": 4.0,
    }
    return view | changes


def a_cadence(**changes: Any) -> dict[str, Any]:
    """What a job is advised on how often to save, on the wire."""
    choices = [(600, 0.0017, 0.0006, 301), (1080, 0.0009, 0.0011, 541), (3600, 0.0003, 0.0035, 1801)]
    trade = [
        {
            "interval_s": every,
            "save_share": save,
            "lost_share": lost,
            "share": save + lost,
            "lost_per_fault_s": fault,
            "advised": every == 1080,
            "in_use": every == 3600,
        }
        for every, save, lost, fault in choices
    ]
    view = {
        "mode": "steps",
        "advised_s": 1080,
        "present_s": 3600,
        "edge": None,
        "kept": False,
        "blocking_s": 1.0,
        "writing_s": 20.0,
        "saves": 12,
        "nodes": 32,
        "mtbf_s": 415384.6,
        "rate": 6.5,
        "rate_low": 3.1,
        "rate_high": 11.2,
        "trade": trade,
        "storages": [a_storage(), a_storage(storage="lustre", kind="parallel", in_use=False, restores=0) | NEVER_READ],
    }
    return view | changes


def a_service(**changes: Any) -> dict[str, Any]:
    """A service with two versions, on the wire."""
    service = {
        "name": "chat",
        "project": "nlp",
        "created_at": AT,
        "created_by": "ann",
        "split": None,
        "stopped_at": None,
    }
    replicas = [
        {"service": "nlp/chat", "version": f"tiny@{n}", "job": f"j-{n}", "state": "ready", "endpoint": f"127.0.0.1:{n}"}
        for n in (1, 2)
    ]
    view = {
        "service": service,
        "split": a_split(),
        "replicas": replicas,
        "url": "http://127.0.0.1:8471/s/nlp/chat/",
        "live": True,
    }
    return view | changes


def a_split(number: int = 1, one: int = 100, **changes: Any) -> dict[str, Any]:
    """A split on the wire: `one` percent to the first version, the rest to the second."""
    shares = [{"version": "tiny@1", "weight": one}, {"version": "tiny@2", "weight": 100 - one}]
    split = {
        "service": "nlp/chat",
        "number": number,
        "shares": shares,
        "at": AT,
        "by": "ann",
        "reason": "",
        "rollback_of": None,
    }
    return split | changes


def a_statement() -> dict[str, Any]:
    """A month with training, serving and waiting, on the wire."""
    lines = [
        {
            "job": "j-8a0",
            "device_type": "cpu",
            "basis": "occupancy",
            "device_seconds": 12345,
            "intervals": 2,
            "open": True,
        },
        {"job": "j-1", "device_type": "cpu", "basis": "resident", "device_seconds": 60, "intervals": 1, "open": False},
    ]
    return {
        "project": "nlp",
        "month": "2026-12",
        "timezone": "Asia/Shanghai",
        "as_of": AT,
        "lines": lines,
        "waiting": [{"job": "j-9", "wait_seconds": 4000}],
        "totals": {"cpu/occupancy": 12345, "cpu/resident": 60},
        "device_seconds": 12405,
    }


def a_table() -> dict[str, Any]:
    """The quota table on the wire: a department, a project that lends, one that borrows."""
    entry = {
        "branch": "research",
        "is_project": False,
        "parent": None,
        "device_type": "h200",
        "guaranteed": 16,
        "granted": 0,
        "borrow_ceiling": None,
        "lend_ceiling": None,
        "weight": 1.0,
        "per_person": None,
        "budget": {"soft": None, "hard": None},
        "used": 14,
        "borrowed": 0,
        "idle": 2,
        "lent": 2,
        "spent": 1234.5,
    }
    nlp = entry | {"branch": "nlp", "is_project": True, "parent": "research", "guaranteed": 8, "used": 2, "idle": 6}
    nlp |= {"borrow_ceiling": 0, "lend_ceiling": 4, "budget": {"soft": 5000.0, "hard": None}}
    vision = nlp | {"branch": "vision", "used": 12, "borrowed": 4, "idle": 0, "borrow_ceiling": None, "per_person": 6}
    lent = {"project": "vision", "owner": "bob", "job": "j-77", "attempt": "j-77.1", "device_type": "h200"}
    return {
        "version": 3,
        "in_force_from": AT,
        "content": "[projects.nlp]\ncards.h200 = { guaranteed = 8 }\n",
        "entries": [entry, nlp, vision],
        "lent": [lent | {"devices": 4, "since": AT}],
        "coming": [4],
        "proposed": [5, 6],
    }


def a_version(number: int, **changes: Any) -> dict[str, Any]:
    """A version of the quota table on the wire."""
    version = {
        "number": number,
        "author": "olga",
        "reason": "新的一年",
        "content": "",
        "diff": ["projects.nlp.cards.h200.guaranteed: 4 → 8"],
        "based_on": number - 1,
        "proposed_at": AT,
        "approved_by": "root",
        "approved_at": AT,
        "in_force_from": AT,
        "dropped_as": None,
        "dropped_by": None,
        "dropped_at": None,
        "dropped_why": None,
    }
    return version | changes


def the_rules() -> dict[str, Any]:
    """The rules of the queue on the wire."""
    return {
        "classes": [{"name": "urgent", "roles": ["lead", "admin"]}, {"name": "idle", "roles": ["member", "lead"]}],
        "rules": [{"name": "protected", "sentence": "a protected job is never taken", "numbers": {}}],
    }


def a_grant(**changes: Any) -> dict[str, Any]:
    """A request for a grant on the wire."""
    grant = {
        "id": "g-1",
        "project": "nlp",
        "device_type": "h200",
        "devices": 8,
        "begins": AT,
        "ends": "2026-12-24T00:00:00Z",
        "reason": "a paper",
        "requested_by": "ann",
        "requested_at": AT,
        "state": "requested",
        "decided_by": None,
        "decided_at": None,
        "note": None,
        "warned_at": None,
    }
    return grant | changes


def a_price() -> dict[str, Any]:
    """What taking a job would destroy, on the wire."""
    price = {"job": "j-8a0", "project": "nlp", "owner": "ann", "devices": 2, "saved_at": AT}
    return price | {"lost_device_seconds": 1200, "step": 120}


def a_window() -> dict[str, Any]:
    """A window on the wire."""
    content = {"name": "power", "begins": AT, "ends": "2026-12-01T08:00:00Z", "nodes": ["n1", "n2"]}
    content |= {"device_type": None, "project": None}
    return {"id": "w-1", "content": content, "reason": "ups", "set_by": "olga", "set_at": AT, "cancelled_at": None}


def a_calibration() -> dict[str, Any]:
    """Hit rates on the wire."""
    group = {"project": None, "size": None, "predictions": 120, "within_p50": 0.51, "within_p90": 0.9}
    group |= {"median_error_s": 340.0, "mean_error_s": 1900.5}
    return {"since": AT, "groups": [group, group | {"project": "nlp", "size": "8", "predictions": 7}]}


def variants() -> list[dict[str, Any]]:
    """What would start a job sooner, on the wire."""
    range_ = {"job": "j-9", "as_of": AT, "p50": "2026-12-01T06:20:00Z", "p90": "2026-12-01T06:30:00Z", "unknown": None}
    return [
        {"change": "fewer-nodes", "value": "2", "forecast": range_, "then": None},
        {"change": "start-small", "value": "2 → 4", "forecast": range_, "then": range_},
        {"change": "grant", "value": "16 × h200", "forecast": range_, "then": None},
    ]


def an_outlook(**changes: Any) -> dict[str, Any]:
    """What would follow a submission, on the wire."""
    waits = waiting()["waits"]
    after = {"branch": "nlp", "device_type": "H800", "own": 8, "ceiling": 24, "used": 8, "after": 40}
    told = {
        "spec": a_job()["spec"],
        "devices": 32,
        "starts_on": None,
        "waits": waits,
        "waiting": 7,
        "forecast": waits["forecast"],
        "quota": [after | {"borrowed_after": 32}],
        "device_hours": {"usual": 64.0, "long": 128.0, "at_most": None, "by": "history"},
    }
    return told | changes


def a_report(project: str = "nlp") -> dict[str, Any]:
    """A project's month on the wire."""
    bounds = (60, 600, 3600, 21600, 86400, None)
    waited = {"starts": 12, "wait_seconds": 48000, "mean_s": 4000.0, "p50_s": 300.0, "p90_s": 7200.0, "max_s": 30000.0}
    waited |= {"spread": [{"up_to_s": up, "waits": 2} for up in bounds], "waiting": 1}
    used = {"device_type": "h200", "device_seconds": 1234, "own_device_seconds": 2468, "utilisation": 0.5}
    failed = {"ended": 14, "failed": 3, "rate": 0.25, "preempted": 1, "drilled": 1, "device_seconds": 600}
    line = {"job": "j-8a0", "name": "sft-07", "devices": 2, "starts": 2, "wait_seconds": 310, "waiting": True}
    line |= {"device_seconds": 1234, "attempts": 2, "failed": 1, "preempted": 0, "drilled": 0, "faults": ["crashed"]}
    return {
        "project": project,
        "month": "2026-11",
        "timezone": "Asia/Shanghai",
        "as_of": AT,
        "waited": waited,
        "used": [used, used | {"device_type": "cpu", "utilisation": None, "own_device_seconds": 0}],
        "failed": failed | {"faults": {"crashed": 2, "unknown": 1}},
        "jobs": [line],
    }


def with_more() -> dict[str, Any]:
    """A month played again with more nodes, on the wire."""
    before = {"jobs": 12, "mean_wait": 4000.0, "p50_wait": 300.0, "p90_wait": 7200.0, "max_wait": 30000.0}
    before |= {"slowdown": 3.0, "evictions": 2, "utilisation": 0.9}
    after = before | {"mean_wait": 400.0, "p90_wait": 720.0, "evictions": 0, "utilisation": None}
    sides = {"before": before, "after": after}
    added = {"month": "2026-11", "added": ["4x8xH800"], "jobs": 12, "left_out": 1}
    return added | {"whole": sides, "projects": {"nlp": sides}}


def a_card(**changes: Any) -> dict[str, Any]:
    """A card that is held and idle, on the wire."""
    card = {"node": "n1", "device": 0, "device_type": "h200", "state": "idle", "project": "nlp", "owner": "ann"}
    card |= {"job": "j-8a0", "name": "sft-07", "attempt": "j-8a0.1", "held_since": AT}
    card |= {"idle_since": "2026-12-01T07:05:00Z", "measured_at": None, "step": 41200, "total": 120000, "ends": None}
    return card | changes


def idle_cards() -> list[dict[str, Any]]:
    """Two cards of one attempt that are alike, and one of another."""
    return [a_card(), a_card(device=1), a_card(node="n2", attempt="j-9.1", step=None)]
