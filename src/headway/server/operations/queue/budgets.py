"""Monthly budgets of device-hours: at the soft bound people are warned, once a month; the hard bound is the plan's."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.queue_events import BudgetReached
from headway.domain.quota import QuotaTree
from headway.store import facts, warned


def warn(c: Connection, tree: QuotaTree, spent: Mapping[tuple[str, str], float], month: str, now: datetime) -> int:
    """Record every bound that was passed and not yet told of this month; returns how many."""
    told = 0
    for branch in tree.branches.values():
        for kind, entry in branch.entries.items():
            used = spent.get((branch.name, kind), 0.0)
            for bound, budget in (("soft", entry.budget.soft), ("hard", entry.budget.hard)):
                if budget is None or used < budget:
                    continue
                if warned.first(c, f"budget/{branch.name}/{kind}/{month}/{bound}", now):
                    told += 1
                    said = BudgetReached(
                        at=now,
                        by="server",
                        branch=branch.name,
                        device_type=kind,
                        month=month,
                        bound=bound,
                        budget=budget,
                        spent=round(used, 1),
                    )
                    facts.append(c, said)
    return told
