"""Says a verdict in one or two sentences of the reader's language: what happened where, and whose move it is."""

from headway.diagnosis.verdict import Fault, Verdict
from headway.domain.errors import Language, Param, PlatformError, message

SHOWN_DETAIL = 160
DRILLED = (Fault.AGENT_LOST, Fault.STALLED)


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
        return f"verdict-drill-{verdict.fault}" if verdict.fault in DRILLED else "verdict-drill"
    if verdict.fault is Fault.CODE_ERROR and verdict.location is None:
        return "verdict-code-error-nowhere"
    if verdict.fault is Fault.PEER_CLOSED and verdict.rank is not None:
        return "verdict-peer-closed-suspect"
    return f"verdict-{verdict.fault}"


def _where(verdict: Verdict, language: Language) -> str:
    if verdict.rank is None:
        return message("verdict-where-everywhere", {}, language)
    return message("verdict-where-rank", {"rank": verdict.rank, "node": verdict.node}, language)


def next_step(verdict: Verdict, language: Language) -> str:
    """What to do about it, in one sentence; empty where there is nothing to do."""
    return PlatformError(_code(verdict)).hint(language)
