"""The API's routes about what was recorded of jobs: their logs, evidence bundles, facts.

Decides nothing; a part of `Client`.
"""

from collections.abc import Iterator
from typing import Any

from headway.sdk.client.calls import Calls, Row, Rows, given, part
from headway.sdk.client.stream import Event


class Records(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def log_ranks(self, job: str, attempt: int | None = None) -> dict[int, int]:
        """The ranks that wrote something, and how many bytes."""
        found = self.get(f"/jobs/{part(job)}/logs/ranks", attempt=attempt)
        return {int(rank): int(size) for rank, size in found.items()}

    def log_window(
        self, job: str, rank: int = 0, *, attempt: int | None = None, offset: int = 0, limit: int = 1 << 20
    ) -> tuple[bytes, int, int]:
        """Bytes of a rank's output, where they begin, and the size of the whole; a negative offset: from its end."""
        query = given({"rank": rank, "attempt": attempt, "offset": offset, "limit": limit})
        answer = self._transport.send("GET", f"/jobs/{part(job)}/logs", params=query)
        return answer.content, int(answer.headers["X-Offset"]), int(answer.headers["X-Size"])

    def log_search(self, job: str, text: str, rank: int = 0, **query: Any) -> Row:
        """The lines that hold a text; `regex`, `ignore_case`, `attempt`, `offset`, `limit`. `next`: where to go on."""
        return dict(self.get(f"/jobs/{part(job)}/logs/search", q=text, rank=rank, **query))

    def bundle(self, job: str, attempt: int | None = None) -> tuple[str, bytes]:
        """The evidence of an attempt, by default the newest: a name for the zip file, and its content."""
        answer = self._transport.send("GET", f"/jobs/{part(job)}/bundle", params=given({"attempt": attempt}))
        return answer.headers["Content-Disposition"].partition('"')[2].rstrip('"'), answer.content

    def follow_log(self, job: str, rank: int = 0, *, attempt: int | None = None, offset: int = 0) -> Iterator[Event]:
        """A rank's output as it comes, `data` its text and `id` the offset after it, until the attempt has ended."""
        query = given({"rank": rank, "attempt": attempt, "offset": offset})
        for event in self._transport.stream(f"/jobs/{part(job)}/logs/stream", "offset", query):
            if event.kind == "end":
                return
            yield event

    def facts(self, after: int = 0, *, job: str | None = None, project: str | None = None, **query: Any) -> Rows:
        """Facts in the order they were recorded, those after a place in the list; `kind`, `limit`."""
        return list(self.get("/facts", after=after, job=job, project=project, **query))

    def all_facts(self, *, job: str | None = None, project: str | None = None) -> Iterator[Row]:
        """Every fact recorded so far, page after page."""
        after = 0
        while page := self.facts(after, job=job, project=project, limit=1000):
            yield from page
            after = int(page[-1]["seq"])

    def follow_facts(self, after: int = 0, *, job: str | None = None, project: str | None = None) -> Iterator[Row]:
        """Facts as they are recorded, without end."""
        query = given({"after": after, "job": job, "project": project})
        for event in self._transport.stream("/facts/stream", "after", query):
            yield dict(event.data)
