"""The client's calls about alerts: rules, what fired, channels, following a job."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]
Rows = list[dict[str, Any]]


class Alerts(ABC):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    @abstractmethod
    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path."""

    @abstractmethod
    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Set what is at a path."""

    @abstractmethod
    def post(self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None) -> Any:
        """Send a body."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Take something away."""

    def alerts(self, days: int = 7, *, open: bool = False, job: str | None = None) -> Rows:
        """What fired, newest first; `open`: only what still stands."""
        return list(self.get("/alerts", days=days, open=open, job=job))

    def acknowledge_alert(self, alert: str, note: str = "") -> Row:
        return dict(self.post(f"/alerts/{alert}/acknowledge", {"note": note}))

    def alert_rules(self) -> Rows:
        return list(self.get("/alert-rules"))

    def set_alert_rule(self, name: str, rule: Mapping[str, Any]) -> Row:
        """`watches`, one of `above` and `below`, `for_s`, `project`, `job`, `node`, `recipients`."""
        return dict(self.put(f"/alert-rules/{name}", rule))

    def rehearse_alert_rule(self, rule: Mapping[str, Any]) -> Row:
        """How often it would have fired last week."""
        return dict(self.post("/alert-rules/rehearsal", rule))

    def mute_alert_rule(self, name: str, until: str | None) -> Row:
        """Tell nobody until a moment; None: tell again."""
        return dict(self.post(f"/alert-rules/{name}/mute", {"until": until}))

    def remove_alert_rule(self, name: str) -> None:
        self.delete(f"/alert-rules/{name}")

    def channels(self) -> Rows:
        return list(self.get("/channels"))

    def set_channel(self, name: str, url: str, *, language: str = "zh", personal: bool = False) -> Row:
        return dict(self.put(f"/channels/{name}", {"url": url, "language": language, "personal": personal}))

    def test_channel(self, name: str) -> Row:
        """Send a line through it at once."""
        return dict(self.post(f"/channels/{name}/test"))

    def remove_channel(self, name: str) -> None:
        self.delete(f"/channels/{name}")

    def follow_job(self, job: str, channel: str) -> Row:
        """Be told through a channel when a job starts, stalls and ends."""
        return dict(self.put(f"/jobs/{job}/following", {"channel": channel}))

    def unfollow_job(self, job: str) -> None:
        self.delete(f"/jobs/{job}/following")
