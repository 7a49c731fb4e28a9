"""Reasons in words, zh and en: what the screen, `headway why` and alerts say about one waiting job.

Decides only how a reason is told; the numbers are the reason's own.
"""

from dataclasses import fields
from datetime import datetime

from headway.domain.errors import Language, Param, PlatformError
from headway.scheduler.plan import BehindOthers, BorrowCeiling, CapacityShort, PersonCeiling, QuotaReached, Reason


def code(reason: Reason) -> str:
    """The message code of a reason."""
    match reason:
        case BehindOthers(promised_at=None):
            return f"waits-{reason.code}-untimed"
        case CapacityShort(held=0):
            return f"waits-{reason.code}-unheld"
        case PersonCeiling(ceiling=most) | BorrowCeiling(ceiling=most) | QuotaReached(quota=most) if (
            reason.wanted > most
        ):
            return f"waits-{reason.code}-alone"
        case _:
            return f"waits-{reason.code}"


def params(reason: Reason) -> dict[str, Param]:
    """The reason's numbers, as its message wants them; times are ISO 8601, UTC."""
    values = {field.name: getattr(reason, field.name) for field in fields(reason)}
    return {name: _plain(value) for name, value in values.items()}


def sentence(reason: Reason, language: Language) -> str:
    """Why it waits, with numbers."""
    return _message(reason).text(language)


def advice(reason: Reason, language: Language) -> str:
    """What would start it sooner."""
    return _message(reason).hint(language)


def _message(reason: Reason) -> PlatformError:
    return PlatformError(code(reason), **params(reason))


def _plain(value: Param | datetime) -> Param:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
