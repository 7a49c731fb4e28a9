"""The API's routes about jobs: submitting and listing them, what they saved and lost, stopping, resuming, drilling.

Decides nothing; a part of `Client`.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway.sdk.client.calls import PAGE, Calls, Row, Rows, part


class Jobs(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def submit(self, body: Mapping[str, Any], key: str | None = None) -> Row:
        """The queued job. Sent again under one idempotency key (by default a new one) until it is answered."""
        return dict(self.post("/jobs", body, key=key or uuid.uuid4().hex))

    def dry_run(self, body: Mapping[str, Any]) -> Row:
        """What would follow if `submit` were called now: place in the queue, start range, quota after, device-hours."""
        return dict(self.post("/jobs/dry-run", body))

    def jobs(
        self, project: str | None = None, states: Sequence[str] | None = None, limit: int | None = None
    ) -> Iterator[Row]:
        """Jobs with what is known of them, newest first, page after page; at most `limit`."""
        cursor, left = None, limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            page = self.get("/jobs", project=project, state=states or None, cursor=cursor, limit=size)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return
            left = None if left is None else left - len(page["items"])

    def job(self, job: str) -> Row:
        """One job, by id, a unique beginning of one, or name."""
        return dict(self.get(f"/jobs/{part(job)}"))

    def attempts(self, job: str) -> Rows:
        return self.all(f"/jobs/{part(job)}/attempts")

    def checkpoints(self, job: str) -> Rows:
        return self.all(f"/jobs/{part(job)}/checkpoints")

    def pin(self, job: str, step: int) -> Rows:
        """Keep what was saved at a step, whatever the policy or a full disk says."""
        return list(self.put(f"/jobs/{part(job)}/checkpoints/{step}/pin", {}))

    def unpin(self, job: str, step: int) -> Rows:
        """Leave what was saved at a step to the policy again."""
        return list(self._transport.json("DELETE", f"/jobs/{part(job)}/checkpoints/{step}/pin"))

    def cadence(self, job: str) -> Row:
        """How often it should save, and what other intervals would cost."""
        return dict(self.get(f"/jobs/{part(job)}/cadence"))

    def bills(self, job: str) -> Rows:
        """What each failure cost."""
        return self.all(f"/jobs/{part(job)}/bills")

    def losses(self, job: str) -> Row:
        """What all its failures cost, and what another interval between checkpoints would have cost."""
        return dict(self.get(f"/jobs/{part(job)}/losses"))

    def readings(self, job: str, name: str, **query: Any) -> Rows:
        """One measurement over time; `attempt`, `rank`, `points`."""
        return list(self.get(f"/jobs/{part(job)}/readings", name=name, **query))

    def stop(self, job: str, reason: str = "user") -> Row:
        return dict(self.post(f"/jobs/{part(job)}/stop", {"reason": reason}))

    def release(self, job: str) -> Row:
        """Let a job go on that was held until what stopped it was put right."""
        return dict(self.post(f"/jobs/{part(job)}/release"))

    def resume(self, job: str, wish: Mapping[str, Any], key: str | None = None) -> Row:
        """A new job from a checkpoint of one that has ended; `wish`: `pool`, `nodes`, `checkpoint` and their like."""
        return dict(self.post(f"/jobs/{part(job)}/resume", dict(wish), key=key or uuid.uuid4().hex))

    def try_resume(self, job: str, wish: Mapping[str, Any]) -> Row:
        """What resuming it would carry over, and when it would start; nothing is created."""
        return dict(self.post(f"/jobs/{part(job)}/resume/dry-run", dict(wish)))

    def drill(self, job: str, rank: int | None = None, **order: Any) -> Row:
        """Break a job without warning: `kill` (rank, agent, stop), `at_step`, `shadow` (a copy of it instead)."""
        asked = {"rank": rank, **order}
        return dict(self.post(f"/jobs/{part(job)}/drills", {k: v for k, v in asked.items() if v is not None}))

    def drills(self, project: str | None = None, limit: int = 50) -> Rows:
        """Drills with how they came out, newest first."""
        return list(self.get("/drills", project=project, limit=limit))

    def overdue_drills(self) -> Rows:
        """Templates that are trained with now and were not drilled for too long."""
        return self.all("/drills/overdue")
