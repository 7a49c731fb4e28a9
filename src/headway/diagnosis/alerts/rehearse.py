"""How often a rule would have fired: its condition held against the past."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from headway.domain.alert import AlertRule

Past = Sequence[tuple[datetime, float]]
"""One subject's values over time, oldest first; each stands until the next."""


def times_fired(rule: AlertRule, past: Past, until: datetime) -> int:
    """How many times the condition held for as long as the rule says; the last value stands until `until`."""
    count, began, fired = 0, None, False
    for at, value in past:
        if began is not None and not fired and at - began >= rule.lasting:
            count, fired = count + 1, True
        if not rule.holds(value):
            began, fired = None, False
        elif began is None:
            began = at
            if rule.lasting == timedelta(0):
                count, fired = count + 1, True
    return count + (began is not None and not fired and until - began >= rule.lasting)
