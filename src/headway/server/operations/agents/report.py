"""Take one report of one node's agent: write what is new in it, and answer what the agent should do.

Everything in a report may come again after a crash of either side; each part is recorded once, by its own key (a rank's
exit, an events offset, a drill id).
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import Attempt, RankExit
from headway.domain.drill import Drill, Kill
from headway.domain.errors import PlatformError
from headway.domain.events import AgentLost, AttemptStarted, AttemptWaited, LogsDropped, RankExited
from headway.domain.ids import AttemptId
from headway.domain.lifecycle import AttemptState, JobState
from headway.server.operations.agents.rank_events import RankEvents
from headway.server.operations.agents.scenes import AT_EXIT, take_scene
from headway.server.operations.jobs.frameworks import record_seen
from headway.server.operations.jobs.keeping import record_discarded
from headway.server.operations.jobs.settle import LEFT_AT, LOST, settle
from headway.server.platform import Platform
from headway.server.wire import Answer, DiscardOrder, Dropped, Exit, KillOrder, Report, StopOrder
from headway.store import agents, attempts, drills, facts, jobs
from headway.store.agents import NodeReport
from headway.store.readings import Reading

GANG_GRACE = timedelta(seconds=5)
NOTICEABLE = timedelta(seconds=1)  # the ledger counts whole seconds


def take(platform: Platform, attempt_id: AttemptId, node: str, report: Report) -> Answer:
    """Record a report. Raises `not-found`, or `attempt-over` for a report after the last one."""
    with platform.database.write() as c:
        attempt = attempts.get(c, attempt_id)
        if attempt is None or node not in {placement.node for placement in attempt.placements}:
            raise PlatformError("not-found", what="attempt", value=f"{attempt_id}/{node}")
        attempt = _started(platform, c, attempt, node, report)
        offsets, readings = RankEvents(platform, c, attempt, node).take(report.events)
        record_seen(c, attempt, report.checkpoints, platform.checkpoints / attempt.job, platform.clock.now())
        record_discarded(platform, c, attempt, report.discarded, platform.clock.now())
        _record(platform, c, attempt, node, report)
        _live(platform, attempt, node, report)
        outcome = settle(c, attempt, at=platform.clock.now(), hold=platform.settings.hold)
        answer = _answer(c, attempt, node, report, offsets, platform.clock.now())
    if not answer.over:
        answer.look = platform.live.looks(attempt.id, node)
        every = platform.save_every.get(attempt.id)
        if node == attempt.placements[0].node:
            discards = platform.discards.get(attempt.id, {})
            answer.discard = [DiscardOrder(path=path, bytes=order.bytes) for path, order in discards.items()]
        answer.save_every_s = None if every is None else every.total_seconds()
    readings += [Reading(attempt_id, node, r.rank, r.device, r.name, r.t, r.value) for r in report.readings]
    if readings:
        platform.readings.add(readings)
    if outcome is not None:
        platform.wake("diagnose", "schedule", "meter")
    elif any(exit.code != 0 for exit in report.exits):
        platform.wake("observe")  # which tells the other nodes' agents
    return answer


def _live(platform: Platform, attempt: Attempt, node: str, report: Report) -> None:
    """What the watch over stalls goes by."""
    platform.live.report(attempt.id, node, report.readings, platform.clock.now())
    for scene in report.scenes:
        if scene.get("look") == AT_EXIT or platform.live.takes(attempt.id, node, scene.get("look")):
            take_scene(platform, attempt.id, node, scene)


def _started(platform: Platform, c: Connection, attempt: Attempt, node: str, report: Report) -> Attempt:
    """Move the attempt and its job to running with the first rank anybody saw."""
    if not report.ranks or attempt.state not in (AttemptState.PLACED, AttemptState.LAUNCHED):
        return attempt
    now = platform.clock.now()
    facts.append(c, AttemptStarted(at=now, by=f"agent:{node}", job=attempt.job, attempt=attempt.id))
    job = jobs.get(c, attempt.job)
    if job is not None and job.state == JobState.STARTING:
        jobs.move(c, attempt.job, JobState.RUNNING, at=now)
    return attempts.move(c, attempt.id, AttemptState.RUNNING, at=now)


def _record(platform: Platform, c: Connection, attempt: Attempt, node: str, report: Report) -> None:
    """Write the agent's row, its ranks, exits, drops and finished drills."""
    now = platform.clock.now()
    if report.ranks:
        agents.record_ranks(c, attempt.id, node, [(r.rank, r.pid, r.started_at) for r in report.ranks])
    for exit in report.exits:
        _record_exit(c, attempt, node, exit)
    known = next((part for part in agents.of_attempt(c, attempt.id) if part.node == node), None)
    if known is None:
        facts.append(c, *_waited(attempt, node, report, now))
    if not _is_repeated(known, report):
        facts.append(c, *(_drop_fact(attempt, node, drop) for drop in report.dropped))
    for drill in report.drills_done:
        drills.done(c, drill, now)
    over = known is not None and known.ended_at is not None
    if report.ended is not None and report.ended.reason == LOST and not over:
        at = report.ended.at
        facts.append(c, AgentLost(at=at, by=f"agent:{node}", job=attempt.job, attempt=attempt.id, node=node))
    agents.upsert(c, _told(attempt, node, report, known, now))


def _waited(attempt: Attempt, node: str, report: Report, now: datetime) -> list[AttemptWaited]:
    """Since when it has really had its devices, where a batch system made it wait for them; its first node tells."""
    taken_at = (report.facts or {}).get("taken_at")
    if node != attempt.placements[0].node or not isinstance(taken_at, (int, float)):
        return []
    until = datetime.fromtimestamp(taken_at, UTC)
    if until < attempt.placed_at + NOTICEABLE:
        return []
    return [AttemptWaited(at=now, by=f"agent:{node}", job=attempt.job, attempt=attempt.id, until=until)]


def _told(attempt: Attempt, node: str, report: Report, known: NodeReport | None, now: datetime) -> NodeReport:
    """The node's part as this report leaves it; with its facts stands which agent said so."""
    over = known is not None and known.ended_at is not None
    seq = known.seq if known is not None and _is_repeated(known, report) else report.seq
    said = (report.facts or (known.facts if known else None) or {}) | _identity(report)
    told = NodeReport(attempt.id, node, "ended" if over else report.phase, seq, first_at=now, last_at=now, facts=said)
    if report.ended is None:
        return told
    end = report.ended
    if end.left:
        told = replace(told, facts=said | {LEFT_AT: end.at.timestamp()})
    streams = {str(rank): size for rank, size in end.logs.items()}
    return replace(told, ended_at=end.at, ended_reason=end.reason, detail=end.detail, streams=streams)


def _identity(report: Report) -> dict[str, int]:
    """Which agent speaks: one started again on the same node begins to count anew."""
    return dict(zip(agents.AGENT, (report.agent.pid, report.agent.start_ticks), strict=True))


def _is_repeated(known: NodeReport | None, report: Report) -> bool:
    """Whether this very agent's report was recorded before: it is sent again until it is answered."""
    if known is None or known.facts is None or report.seq > known.seq:
        return False
    return _identity(report).items() <= known.facts.items()


def _drop_fact(attempt: Attempt, node: str, drop: Dropped) -> LogsDropped:
    return LogsDropped(
        at=drop.t,
        by=f"agent:{node}",
        job=attempt.job,
        attempt=attempt.id,
        rank=drop.rank,
        offset=drop.from_,
        bytes=drop.bytes,
        why=drop.why,
    )


def _record_exit(c: Connection, attempt: Attempt, node: str, exit: Exit) -> None:
    error = exit.error
    seen = RankExit(
        rank=exit.rank,
        node=node,
        at=exit.at,
        code=exit.code,
        signal=exit.signal,
        signal_name=exit.signal_name,
        core=exit.core,
        oom_kill=exit.oom_kill,
        stopped_by_us=exit.stopped_by_us,
        error_message=error.message if error else None,
        error_callstack=error.callstack if error else None,
        error_at=error.timestamp if error else None,
    )
    if agents.record_exit(c, attempt.id, seen):
        fact = RankExited(
            at=exit.at,
            by=f"agent:{node}",
            job=attempt.job,
            attempt=attempt.id,
            rank=exit.rank,
            node=node,
            code=exit.code,
            signal=exit.signal,
            stopped_by_us=exit.stopped_by_us,
        )
        facts.append(c, fact)


def _answer(
    c: Connection, attempt: Attempt, node: str, report: Report, offsets: dict[int, int], now: datetime
) -> Answer:
    if report.ended is not None:
        return Answer(events=offsets, over=True)
    return Answer(events=offsets, stop=_stop_order(c, attempt, node), kill=_kill_orders(c, attempt, node, now))


def _kill_orders(c: Connection, attempt: Attempt, node: str, now: datetime) -> list[KillOrder]:
    """Drills of ranks that run on this node: another node's agent would call a rank it does not have done."""
    pending = drills.pending(c, attempt.id, attempt.step)
    if not pending:
        return []
    here = {start.rank for start in agents.ranks(c, attempt.id) if start.node == node}
    mine = [drill for drill in pending if drill.rank in here]
    for drill in mine:
        drills.sent(c, drill.id, now)
    return [KillOrder(drill=d.id, rank=d.rank, signal=d.signal, what=_struck(d)) for d in mine]


def _struck(drill: Drill) -> str:
    return Kill.RANK if drill.kill is Kill.STOP else drill.kill


def _stop_order(c: Connection, attempt: Attempt, node: str) -> StopOrder | None:
    """`over` for an agent that was thought lost; else a wish; else the gang's, when a rank elsewhere ended badly."""
    if attempt.state == AttemptState.ENDED:
        return StopOrder(reason="over", grace_s=GANG_GRACE.total_seconds())
    wish = attempts.stop_request(c, attempt.id)
    if wish is not None:
        return StopOrder(reason=wish.reason, grace_s=wish.grace.total_seconds())
    if broken_since(c, attempt, elsewhere_than=node) is not None:
        return StopOrder(reason="gang", grace_s=GANG_GRACE.total_seconds())
    return None


def broken_since(c: Connection, attempt: Attempt, elsewhere_than: str | None = None) -> datetime | None:
    """When a rank ended badly, or a node's part without its agent's word: the gang cannot go on. None: it can."""
    exits, parts = agents.exits(c, attempt.id), agents.of_attempt(c, attempt.id)
    bad = [exit.at for exit in exits if not exit.is_clean and exit.node != elsewhere_than]
    lost = [
        part.ended_at
        for part in parts
        if part.ended_at is not None and part.ended_reason != "exited" and part.node != elsewhere_than
    ]
    return min([*bad, *lost], default=None)
