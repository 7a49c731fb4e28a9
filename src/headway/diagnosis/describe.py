"""Says a verdict in one or two sentences of the reader's language: what happened where, and whose move it is."""

from headway.diagnosis.cause import Cause
from headway.diagnosis.verdict import Fault, Verdict
from headway.domain.errors import Language, Param, PlatformError, code_of, message, retold, spoken

SHOWN_DETAIL = 160
_DRILLED = frozenset({Fault.AGENT_LOST, Fault.NODE_DOWN, Fault.STALLED})
_TOLD = frozenset({Fault.CODE_ERROR, Fault.MACHINE_FAULT, Fault.PEER_CLOSED})
"""Ends whose cause says more of what to do than they do."""


def describe(verdict: Verdict, language: Language) -> str:
    """The verdict in words, zh or en."""
    params: dict[str, Param] = {
        "where": _where(verdict, language),
        "node": verdict.node,
        "location": verdict.location,
        "signal": verdict.signal_name,
        "code": verdict.code,
        "detail": _detail(verdict, language)[:SHOWN_DETAIL].rstrip(" .。") or None,
    }
    if verdict.cause is not None:
        params["cause"] = title(verdict.cause, language)
    said = message(_code(verdict), params, language)
    move = message(f"verdict-move-{verdict.owner}", {}, language)
    return said + move if language == "zh" else f"{said} {move}"


def _detail(verdict: Verdict, language: Language) -> str:
    """What was seen, in the reader's language; a program's own words as they are."""
    detail = verdict.detail or ""
    if verdict.fault is Fault.STOPPED:
        return spoken("why", detail, language)
    return retold(detail, language)


def _code(verdict: Verdict) -> str:
    if verdict.drill and verdict.cause == Cause.STORAGE_IO:
        return "verdict-drill-storage"
    if verdict.drill:
        return f"verdict-drill-{verdict.fault}" if verdict.fault in _DRILLED else "verdict-drill"
    if verdict.fault is Fault.CODE_ERROR and verdict.location is None:
        return "verdict-code-error-nowhere"
    if verdict.fault is Fault.PEER_CLOSED and verdict.rank is not None:
        return "verdict-peer-closed-suspect"
    return f"verdict-{verdict.fault}"


def _where(verdict: Verdict, language: Language) -> str:
    if verdict.rank is None and verdict.node is not None:
        return message("verdict-where-node", {"node": verdict.node}, language)
    if verdict.rank is None:
        return message("verdict-where-everywhere", {}, language)
    return message("verdict-where-rank", {"rank": verdict.rank, "node": verdict.node}, language)


def describe_hang(cause: str, rank: int | None, node: str | None, language: Language) -> str:
    """What a running job that stands still waits for."""
    everywhere = message("verdict-where-everywhere", {}, language)
    where = everywhere if rank is None else message("verdict-where-rank", {"rank": rank, "node": node}, language)
    why = title(cause, language)
    return message("stall-why", {"where": where, "cause": why}, language)


def next_step(verdict: Verdict, language: Language) -> str:
    """What to do about it; empty where there is nothing to do. A cause that says more than the end goes before it."""
    if (
        not verdict.drill
        and verdict.cause is not None
        and verdict.fault in _TOLD
        and verdict.cause != Cause.USER_CODE_EXC
    ):
        return ("；" if language == "zh" else "; ").join(steps(verdict.cause, language))
    return PlatformError(_code(verdict)).hint(language)


def title(cause: str, language: Language) -> str:
    """A class of causes in words."""
    return spoken("cause", cause, language)


def steps(cause: str, language: Language) -> list[str]:
    """What to do about a class of causes, each step a sentence."""
    return [step for step in PlatformError(code_of("cause", cause)).hint(language).splitlines() if step]
