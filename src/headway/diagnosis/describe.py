"""Says a verdict in one or two sentences of the reader's language: what happened where, and whose move it is."""

from headway.diagnosis.verdict import Fault, Verdict
from headway.domain.errors import Language, Param, PlatformError, message

SHOWN_DETAIL = 160


def describe(verdict: Verdict, language: Language) -> str:
    """The verdict in words, zh or en."""
    params: dict[str, Param] = {
        "where": _where(verdict, language),
        "node": verdict.node,
        "location": verdict.location,
        "signal": verdict.signal_name,
        "code": verdict.code,
        "detail": verdict.detail[:SHOWN_DETAIL].rstrip(" .。") if verdict.detail else None,
    }
    said = message(_code(verdict), params, language)
    move = message(f"verdict-move-{verdict.owner}", {}, language)
    return said + move if language == "zh" else f"{said} {move}"


def _code(verdict: Verdict) -> str:
    if verdict.drill:
        return "verdict-drill"
    if verdict.fault is Fault.CODE_ERROR and verdict.location is None:
        return "verdict-code-error-nowhere"
    if verdict.fault is Fault.PEER_CLOSED and verdict.rank is not None:
        return "verdict-peer-closed-suspect"
    return f"verdict-{verdict.fault}"


def _where(verdict: Verdict, language: Language) -> str:
    if verdict.rank is None:
        return message("verdict-where-everywhere", {}, language)
    return message("verdict-where-rank", {"rank": verdict.rank, "node": verdict.node}, language)


def describe_hang(cause: str, rank: int | None, node: str | None, language: Language) -> str:
    """What a running job that stands still waits for."""
    everywhere = message("verdict-where-everywhere", {}, language)
    where = everywhere if rank is None else message("verdict-where-rank", {"rank": rank, "node": node}, language)
    why = message(f"cause-{cause.lower().replace('_', '-')}", {}, language)
    return message("stall-why", {"where": where, "cause": why}, language)


def next_step(verdict: Verdict, language: Language) -> str:
    """What to do about it, in one sentence; empty where there is nothing to do."""
    return PlatformError(_code(verdict)).hint(language)
