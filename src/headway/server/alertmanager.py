"""Records as Prometheus Alertmanager takes them (its API v2): a site's own routing, silences and receivers go on."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from headway.domain.alert import AlertRecord, AlertRule

TIMEOUT_S = 10.0
PATH = "/api/v2/alerts"


def push(url: str, records: Sequence[AlertRecord], rules: Mapping[str, AlertRule], server: str) -> str | None:
    """Tell it what stands and what is over; None when it took all of it, otherwise why not."""
    body = [as_alert(record, rules[record.rule], server) for record in records]
    try:
        answer = httpx.post(f"{url.rstrip('/')}{PATH}", json=body, timeout=TIMEOUT_S)
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__
    return None if answer.is_success else f"{answer.status_code} {answer.text[:200]}"


def as_alert(record: AlertRecord, rule: AlertRule, server: str) -> dict[str, Any]:
    """One record: labels say which alert it is, so that its end finds it again; annotations say more."""
    labels = {"alertname": rule.name, "subject": record.subject.key, "source": "headway"}
    if record.subject.project is not None:
        labels["project"] = record.subject.project
    alert: dict[str, Any] = {
        "labels": labels,
        "annotations": {"watches": rule.watches, "value": "" if record.value is None else f"{record.value:.6g}"},
        "startsAt": record.began.isoformat(),
        "generatorURL": f"{server}/api/v1/alerts/{record.id}",
    }
    if record.ended_at is not None:
        alert["endsAt"] = record.ended_at.isoformat()
    return alert
