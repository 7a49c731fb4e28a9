"""The API's routes about alerts: rules, what fired, channels, following a job.

Decides nothing; a part of `Client`.
"""

from collections.abc import Mapping
from typing import Any

from headway.sdk.client.calls import Calls, Row, Rows, part


class Alerts(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def alerts(self, days: int = 7, *, open: bool = False, job: str | None = None) -> Rows:
        """What fired, newest first; `open`: only what still stands."""
        return self.all("/alerts", days=days, open=open, job=job)

    def acknowledge_alert(self, alert: str, note: str = "") -> Row:
        return dict(self.post(f"/alerts/{part(alert)}/acknowledge", {"note": note}))

    def alert_rules(self) -> Rows:
        return self.all("/alert-rules")

    def set_alert_rule(self, name: str, rule: Mapping[str, Any]) -> Row:
        """`watches`, one of `above` and `below`, `for_s`, `project`, `job`, `node`, `recipients`."""
        return dict(self.put(f"/alert-rules/{part(name)}", rule))

    def rehearse_alert_rule(self, rule: Mapping[str, Any]) -> Row:
        """How often it would have fired last week."""
        return dict(self.post("/alert-rules/rehearsal", rule))

    def mute_alert_rule(self, name: str, until: str | None) -> Row:
        """Tell nobody until a moment; None: tell again."""
        return dict(self.post(f"/alert-rules/{part(name)}/mute", {"until": until}))

    def remove_alert_rule(self, name: str) -> None:
        self.delete(f"/alert-rules/{part(name)}")

    def channels(self) -> Rows:
        return self.all("/channels")

    def set_channel(self, name: str, url: str, *, language: str = "zh", personal: bool = False) -> Row:
        return dict(self.put(f"/channels/{part(name)}", {"url": url, "language": language, "personal": personal}))

    def test_channel(self, name: str) -> Row:
        """Send a line through it at once."""
        return dict(self.post(f"/channels/{part(name)}/test"))

    def remove_channel(self, name: str) -> None:
        self.delete(f"/channels/{part(name)}")

    def follow_job(self, job: str, channel: str) -> Row:
        """Be told through a channel when a job starts, stalls and ends."""
        return dict(self.put(f"/jobs/{part(job)}/following", {"channel": channel}))

    def unfollow_job(self, job: str) -> None:
        self.delete(f"/jobs/{part(job)}/following")
