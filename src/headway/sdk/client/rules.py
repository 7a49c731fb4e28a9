"""The API's routes about what the queue goes by: the quota table, grants, windows, arrays, preemption, calibration.

Decides nothing; a part of `Client`.
"""

from collections.abc import Mapping
from typing import Any

from headway.sdk.client.calls import Calls, Row, Rows, part


class Rules(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def quota(self) -> Row:
        """The table in force, with what each branch holds, lends and borrows."""
        return dict(self.get("/quota"))

    def quota_versions(self) -> Rows:
        """Every table that was proposed, newest first."""
        return self.all("/quota/versions")

    def quota_version(self, number: int) -> Row:
        return dict(self.get(f"/quota/versions/{number}"))

    def quota_difference(self, number: int, against: int | None = None) -> list[str]:
        """What a table changes, one line a number."""
        return list(self.get(f"/quota/versions/{number}/diff", against=against))

    def propose_quota(self, content: str, reason: str, format: str = "toml") -> Row:
        """Propose a whole table, as the text of a TOML or YAML file."""
        form = {} if format == "toml" else {"format": format}
        return dict(self.post("/quota/versions", {"content": content, "reason": reason} | form))

    def approve_quota(self, number: int, in_force_from: str | None = None) -> Row:
        """Let a table somebody else proposed be in force from a moment on (None: now)."""
        return dict(self.post(f"/quota/versions/{number}/approve", {"in_force_from": in_force_from}))

    def reject_quota(self, number: int, reason: str) -> Row:
        """Turn a table down that somebody else proposed."""
        return dict(self.post(f"/quota/versions/{number}/reject", {"reason": reason}))

    def withdraw_quota(self, number: int, reason: str = "") -> Row:
        """Take one's own proposed table back."""
        return dict(self.post(f"/quota/versions/{number}/withdraw", {"reason": reason}))

    def queue_rules(self) -> Row:
        """The rules the queue goes by, for everybody to read: who may do what, and every number with its meaning."""
        return dict(self.get("/queue/rules"))

    def grants(self, project: str | None = None, state: str | None = None) -> Rows:
        """Requests and decisions, newest first."""
        return self.all("/grants", project=project, state=state)

    def request_grant(self, wish: Mapping[str, Any]) -> Row:
        """Ask for devices beyond the quota: `project`, `device_type`, `devices`, `ends`, `reason`, and `begins`."""
        return dict(self.post("/grants", wish))

    def decide_grant(self, grant: str, approve: bool, note: str = "") -> Row:
        return dict(self.post(f"/grants/{part(grant)}/decide", {"approve": approve, "note": note}))

    def withdraw_grant(self, grant: str, reason: str = "") -> Row:
        """Take one's own request back before it is decided."""
        return dict(self.post(f"/grants/{part(grant)}/withdraw", {"reason": reason}))

    def windows(self) -> Rows:
        """Windows that are not over."""
        return self.all("/windows")

    def set_window(self, window: Mapping[str, Any]) -> Row:
        """`name`, `begins`, `ends`, and `nodes`, `device_type`, `project`, `reason`."""
        return dict(self.post("/windows", window))

    def cancel_window(self, window: str) -> None:
        self.delete(f"/windows/{part(window)}")

    def submit_array(self, body: Mapping[str, Any], key: str | None = None) -> Rows:
        """Many jobs as one: a job's body with `count` or `sweep`, and `cap`."""
        return list(self.post("/jobs/arrays", body, key=key))

    def dry_run_array(self, body: Mapping[str, Any]) -> Row:
        """What would follow if `submit_array` were called now: of the first job and the last, and the quota after."""
        return dict(self.post("/jobs/arrays/dry-run", body))

    def ahead(self, job: str) -> Rows:
        """Who stands before a waiting job, first in line first, with owner, devices and expected start and end."""
        return self.all(f"/jobs/{part(job)}/ahead")

    def sooner(self, job: str) -> Rows:
        """What would start a waiting job sooner, the soonest first: each change with its own range."""
        return list(self.get(f"/jobs/{part(job)}/sooner"))

    def preempt(self, job: str, reason: str, dry_run: bool = False) -> Row:
        """Take a running job's devices; a dry run only tells the price."""
        return dict(self.post(f"/jobs/{part(job)}/preempt", {"reason": reason, "dry_run": dry_run}))

    def calibration(self, project: str | None = None, days: int = 30) -> Row:
        """How often jobs started within the range they were first told."""
        return dict(self.get("/forecast/calibration", project=project, days=days))

    def close_project(self, project: str) -> Row:
        """Free its quota at once and stop its jobs."""
        return dict(self.post(f"/projects/{part(project)}/close"))
