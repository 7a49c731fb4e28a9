"""The API's routes about what was used: quotas as numbers, statements, monthly reports.

Decides nothing; a part of `Client`.
"""

from collections.abc import Sequence

from headway.sdk.client.calls import Calls, Row, Rows, part


class Usage(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def quotas(self, project: str | None = None) -> Rows:
        return self.all("/quotas", project=project)

    def set_quota(self, project: str, device_type: str, devices: int) -> Row:
        return dict(self.put(f"/projects/{part(project)}/quotas/{part(device_type)}", {"devices": devices}))

    def statement(self, project: str, month: str) -> Row:
        """A project's month, as in `2026-11`."""
        return dict(self.get(f"/projects/{part(project)}/statement", month=month))

    def statement_csv(self, project: str, month: str) -> str:
        path = f"/projects/{part(project)}/statement.csv"
        return self._transport.send("GET", path, params={"month": month}).text

    def intervals(self, project: str) -> Rows:
        """Every interval in which the project had devices."""
        return self.all(f"/projects/{part(project)}/intervals")

    def reports(self, month: str) -> Rows:
        """The month of every project one may read: waits, use of its own, failures."""
        return self.all("/reports", month=month)

    def report(self, project: str, month: str) -> Row:
        """One project's, with the `jobs` that its figures add up from."""
        return dict(self.get(f"/projects/{part(project)}/report", month=month))

    def with_more(self, month: str, add: Sequence[str]) -> Row:
        """What the month's waits would have been with more nodes, as in `4x8xH800`."""
        return dict(self.get("/reports/with-more", month=month, add=list(add)))
