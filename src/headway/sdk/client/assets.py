"""The API's routes about what is registered and served: templates, data sets, models, services.

Decides nothing; a part of `Client`.
"""

from collections.abc import Mapping
from typing import Any

from headway.sdk.client.calls import Calls, Row, Rows, part


class Assets(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def templates(self) -> Rows:
        return self.all("/templates")

    def add_template(self, content: Mapping[str, Any]) -> Row:
        return dict(self.post("/templates", {"content": dict(content)}))

    def datasets(self) -> Rows:
        return self.all("/datasets")

    def register_dataset(self, name: str, path: str, note: str = "") -> Row:
        return dict(self.post("/datasets", {"name": name, "path": path, "note": note}))

    def models(self, name: str | None = None) -> Rows:
        return self.all("/models", name=name)

    def model(self, name: str, number: int) -> Row:
        return dict(self.get(f"/models/{part(name)}/{number}"))

    def register_model(self, name: str, job: str, step: int | None = None) -> Row:
        """Register a job's verified checkpoint: its newest, or that of a step."""
        return dict(self.post("/models", {"name": name, "job": job, "step": step}))

    def services(self) -> Rows:
        return self.all("/services")

    def service(self, project: str, name: str) -> Row:
        return dict(self.get(_service(project, name)))

    def deploy(self, name: str, project: str, version: str, template: str | None = None) -> Row:
        """Serve a model version, given as `name@number`."""
        return dict(
            self.post("/services", {"name": name, "project": project, "version": version, "template": template})
        )

    def shift(self, project: str, name: str, shares: Mapping[str, int], reason: str = "") -> Row:
        """Change the shares of versions (`name@number`), in percent."""
        return dict(self.post(f"{_service(project, name)}/shift", {"shares": dict(shares), "reason": reason}))

    def roll_back(self, project: str, name: str, reason: str = "") -> Row:
        return dict(self.post(f"{_service(project, name)}/rollback", {"reason": reason}))

    def service_history(self, project: str, name: str) -> Rows:
        """Splits, newest first."""
        return self.all(f"{_service(project, name)}/history")

    def stop_service(self, project: str, name: str) -> Row:
        return dict(self.post(f"{_service(project, name)}/stop"))


def _service(project: str, name: str) -> str:
    return f"/services/{part(project)}/{part(name)}"
