"""The API as methods, one a route. Answers are plain JSON: dicts and lists with the keys of the REST schema.

Decides nothing and keeps nothing; a route without a method is reached by `get`, `post` and `put`.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from headway.domain.errors import Language
from headway.sdk.client.access import Access, find_access
from headway.sdk.client.alerts import Alerts
from headway.sdk.client.rules import Rules
from headway.sdk.client.stream import Event
from headway.sdk.client.transport import Transport
from headway.sdk.client.watching import Watching

Row = dict[str, Any]
Rows = list[Row]
PAGE = 200


class Client(Rules, Alerts, Watching):
    """A server's API with a token. Use it as a context, or `close` it.

    Every method may raise `ApiError` (the server refused, in `language`) or `Unreachable`: nobody listened for
    `patience_s`, or an answer took longer than `answer_s`. `ca_file`: PEM, trusted instead of the machine's.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        language: Language = "en",
        *,
        patience_s: float = 3.0,
        answer_s: float = 60.0,
        ca_file: str | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self._transport = Transport(Access(self.url, token, ca_file), language, patience_s, answer_s)

    @classmethod
    def from_environment(cls, language: Language = "en") -> "Client":
        """The client for HEADWAY_URL, HEADWAY_TOKEN and HEADWAY_CA_FILE, or the file `headway login` wrote."""
        access = find_access()
        return cls(access.url, access.token, language, ca_file=access.ca_file)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._transport.close()

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path below `/api/v1`; query values of None are left out."""
        return self._transport.json("GET", path, params=_given(query))

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None) -> Any:
        """Send a body. With an idempotency `key`, where the route takes one, a lost answer is asked for again."""
        return self._transport.json("POST", path, json=_given(body or {}), key=key)

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Put a value where it belongs."""
        return self._transport.json("PUT", path, json=dict(body))

    def delete(self, path: str) -> None:
        """Take something away."""
        self._transport.send("DELETE", path)

    def health(self) -> Row:
        return _row(self.get("/health"))

    def log_in(self, user: str, password: str) -> Row:
        """`{"token", "user"}`; this client goes on with the token it had."""
        return _row(self.post("/login", {"user": user, "password": password}))

    def me(self) -> Row:
        return _row(self.get("/me"))

    # Jobs

    def submit(self, body: Mapping[str, Any], key: str | None = None) -> Row:
        """The queued job. Sent again under one idempotency key (by default a new one) until it is answered."""
        return _row(self.post("/jobs", body, key=key or uuid.uuid4().hex))

    def dry_run(self, body: Mapping[str, Any]) -> Row:
        """What would follow if `submit` were called now: place in the queue, start range, quota after, device-hours."""
        return _row(self.post("/jobs/dry-run", body))

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
        return _row(self.get(f"/jobs/{_part(job)}"))

    def attempts(self, job: str) -> Rows:
        return _rows(self.get(f"/jobs/{_part(job)}/attempts"))

    def checkpoints(self, job: str) -> Rows:
        return _rows(self.get(f"/jobs/{_part(job)}/checkpoints"))

    def pin(self, job: str, step: int) -> Rows:
        """Keep what was saved at a step, whatever the policy or a full disk says."""
        return _rows(self.put(f"/jobs/{_part(job)}/checkpoints/{step}/pin", {}))

    def unpin(self, job: str, step: int) -> Rows:
        """Leave what was saved at a step to the policy again."""
        return _rows(self._transport.json("DELETE", f"/jobs/{_part(job)}/checkpoints/{step}/pin"))

    def cadence(self, job: str) -> Row:
        """How often it should save, and what other intervals would cost."""
        return _row(self.get(f"/jobs/{_part(job)}/cadence"))

    def bills(self, job: str) -> Rows:
        """What each failure cost."""
        return _rows(self.get(f"/jobs/{_part(job)}/bills"))

    def losses(self, job: str) -> Row:
        """What all its failures cost, and what another interval between checkpoints would have cost."""
        return _row(self.get(f"/jobs/{_part(job)}/losses"))

    def readings(self, job: str, name: str, **query: Any) -> Rows:
        """One measurement over time; `attempt`, `rank`, `points`."""
        return _rows(self.get(f"/jobs/{_part(job)}/readings", name=name, **query))

    def stop(self, job: str, reason: str = "user") -> Row:
        return _row(self.post(f"/jobs/{_part(job)}/stop", {"reason": reason}))

    def release(self, job: str) -> Row:
        """Let a job go on that was held until what stopped it was put right."""
        return _row(self.post(f"/jobs/{_part(job)}/release"))

    def resume(self, job: str, wish: Mapping[str, Any], key: str | None = None) -> Row:
        """A new job from a checkpoint of one that has ended; `wish`: `pool`, `nodes`, `checkpoint` and their like."""
        return _row(self.post(f"/jobs/{_part(job)}/resume", dict(wish), key=key or uuid.uuid4().hex))

    def try_resume(self, job: str, wish: Mapping[str, Any]) -> Row:
        """What resuming it would carry over, and when it would start; nothing is created."""
        return _row(self.post(f"/jobs/{_part(job)}/resume/dry-run", dict(wish)))

    def drill(self, job: str, rank: int | None = None, **order: Any) -> Row:
        """Break a job without warning: `kill` (rank, agent, stop), `at_step`, `shadow` (a copy of it instead)."""
        asked = {"rank": rank, **order}
        return _row(self.post(f"/jobs/{_part(job)}/drills", {k: v for k, v in asked.items() if v is not None}))

    def drills(self, project: str | None = None, limit: int = 50) -> Rows:
        """Drills with how they came out, newest first."""
        return _rows(self.get("/drills", project=project, limit=limit))

    def overdue_drills(self) -> Rows:
        """Templates that are trained with now and were not drilled for too long."""
        return _rows(self.get("/drills/overdue"))

    def log_ranks(self, job: str, attempt: int | None = None) -> dict[int, int]:
        """The ranks that wrote something, and how many bytes."""
        found = self.get(f"/jobs/{_part(job)}/logs/ranks", attempt=attempt)
        return {int(rank): int(size) for rank, size in found.items()}

    def log_window(
        self, job: str, rank: int = 0, *, attempt: int | None = None, offset: int = 0, limit: int = 1 << 20
    ) -> tuple[bytes, int, int]:
        """Bytes of a rank's output, where they begin, and the size of the whole; a negative offset: from its end."""
        query = _given({"rank": rank, "attempt": attempt, "offset": offset, "limit": limit})
        answer = self._transport.send("GET", f"/jobs/{_part(job)}/logs", params=query)
        return answer.content, int(answer.headers["X-Offset"]), int(answer.headers["X-Size"])

    def log_search(self, job: str, text: str, rank: int = 0, **query: Any) -> Row:
        """The lines that hold a text; `regex`, `ignore_case`, `attempt`, `offset`, `limit`. `next`: where to go on."""
        return _row(self.get(f"/jobs/{_part(job)}/logs/search", q=text, rank=rank, **query))

    def bundle(self, job: str, attempt: int | None = None) -> tuple[str, bytes]:
        """The evidence of an attempt, by default the newest: a name for the zip file, and its content."""
        answer = self._transport.send("GET", f"/jobs/{_part(job)}/bundle", params=_given({"attempt": attempt}))
        return answer.headers["Content-Disposition"].partition('"')[2].rstrip('"'), answer.content

    def follow_log(self, job: str, rank: int = 0, *, attempt: int | None = None, offset: int = 0) -> Iterator[Event]:
        """A rank's output as it comes, `data` its text and `id` the offset after it, until the attempt has ended."""
        query = _given({"rank": rank, "attempt": attempt, "offset": offset})
        for event in self._transport.stream(f"/jobs/{_part(job)}/logs/stream", "offset", query):
            if event.kind == "end":
                return
            yield event

    def facts(self, after: int = 0, *, job: str | None = None, project: str | None = None, **query: Any) -> Rows:
        """Facts in the order they were recorded, those after a place in the list; `kind`, `limit`."""
        return _rows(self.get("/facts", after=after, job=job, project=project, **query))

    def all_facts(self, *, job: str | None = None, project: str | None = None) -> Iterator[Row]:
        """Every fact recorded so far, page after page."""
        after = 0
        while page := self.facts(after, job=job, project=project, limit=1000):
            yield from page
            after = int(page[-1]["seq"])

    def follow_facts(self, after: int = 0, *, job: str | None = None, project: str | None = None) -> Iterator[Row]:
        """Facts as they are recorded, without end."""
        query = _given({"after": after, "job": job, "project": project})
        for event in self._transport.stream("/facts/stream", "after", query):
            yield _row(event.data)

    # The directory, and the machines

    def nodes(self) -> Rows:
        return _rows(self.get("/nodes"))

    def cards(self, state: str | None = None, project: str | None = None, node: str | None = None) -> Rows:
        """Every card with its holder; `state` `idle`: held and doing nothing since `idle_since`."""
        return _rows(self.get("/cards", state=state, project=project, node=node))

    def cordon(self, node: str, reason: str, *, until: str | None = None, needs_retest: bool = False) -> Row:
        """Keep a node from new attempts: `{"node", "kind", "reason"}`."""
        body = _given({"reason": reason, "until": until, "needs_retest": needs_retest or None})
        return _row(self.put(f"/nodes/{_part(node)}/cordon", body))

    def uncordon(self, node: str, *, force: bool = False) -> Row:
        """Take Headway's own cordon back: `{"node", "state", "reason"}`, as its engine shows the node now."""
        where = f"/nodes/{_part(node)}/cordon"
        return _row(self._transport.json("DELETE", where, params={"force": force}))

    def cases(self, days: int = 90) -> Rows:
        """Every node with its faults beside the pool's norm, the most suspect first."""
        return _rows(self.get("/cases", days=days))

    def case(self, node: str, days: int = 90) -> Row:
        """Everything known of one node."""
        return _row(self.get(f"/nodes/{_part(node)}/case", days=days))

    def retest(self, nodes: list[str], project: str, **wish: Any) -> Row:
        """Close nodes and test them once they are idle; `devices_per_node`, `as_reference`."""
        return _row(self.post("/retests", {"nodes": nodes, "project": project} | _given(wish)))

    def retests(self) -> Rows:
        return _rows(self.get("/retests"))

    def beside(self, job: str, attempt: int | None = None) -> Row:
        """What stood beside an attempt: neighbours, words of its nodes, links and mounts."""
        return _row(self.get(f"/jobs/{_part(job)}/beside", attempt=attempt))

    def incidents(self, days: int = 7) -> Rows:
        """What failed together, the dearest first."""
        return _rows(self.get("/incidents", days=days))

    def departments(self) -> Rows:
        return _rows(self.get("/departments"))

    def create_department(self, name: str) -> Row:
        return _row(self.post("/departments", {"name": name}))

    def projects(self) -> Rows:
        return _rows(self.get("/projects"))

    def create_project(self, name: str, department: str) -> Row:
        return _row(self.post("/projects", {"name": name, "department": department}))

    def quotas(self, project: str | None = None) -> Rows:
        return _rows(self.get("/quotas", project=project))

    def set_quota(self, project: str, device_type: str, devices: int) -> Row:
        return _row(self.put(f"/projects/{_part(project)}/quotas/{_part(device_type)}", {"devices": devices}))

    def create_user(self, name: str, password: str | None = None, unix_name: str | None = None) -> Row:
        return _row(self.post("/users", {"name": name, "password": password, "unix_name": unix_name}))

    def grant_role(self, user: str, role: str, project: str | None = None) -> Row:
        return _row(self.post(f"/users/{_part(user)}/roles", {"role": role, "project": project}))

    def issue_token(self, user: str, days: int = 90) -> Row:
        """`{"token", "user"}`: told once."""
        return _row(self.post(f"/users/{_part(user)}/tokens", {"days": days}))

    def tokens(self, user: str) -> Rows:
        """A user's tokens by id; the tokens themselves are never told again."""
        return _rows(self.get(f"/users/{_part(user)}/tokens"))

    def revoke_token(self, user: str, token: str) -> Row:
        """What the token of this id was."""
        return _row(self._transport.json("DELETE", f"/users/{_part(user)}/tokens/{_part(token)}"))

    def change_password(self, user: str, password: str, current: str | None = None) -> Row:
        """`current`: the present password, which only an administrator may leave out."""
        return _row(self.put(f"/users/{_part(user)}/password", _given({"password": password, "current": current})))

    def withdraw_role(self, user: str, role: str, project: str | None = None) -> Row:
        """The roles that are left; `project` None: the role that holds everywhere."""
        path = f"/users/{_part(user)}/roles/{_part(role)}"
        return _row(self._transport.json("DELETE", path, params=_given({"project": project})))

    def statement(self, project: str, month: str) -> Row:
        """A project's month, as in `2026-11`."""
        return _row(self.get(f"/projects/{_part(project)}/statement", month=month))

    def statement_csv(self, project: str, month: str) -> str:
        path = f"/projects/{_part(project)}/statement.csv"
        return self._transport.send("GET", path, params={"month": month}).text

    def intervals(self, project: str) -> Rows:
        """Every interval in which the project had devices."""
        return _rows(self.get(f"/projects/{_part(project)}/intervals"))

    def reports(self, month: str) -> Rows:
        """The month of every project one may read: waits, use of its own, failures."""
        return _rows(self.get("/reports", month=month))

    def report(self, project: str, month: str) -> Row:
        """One project's, with the `jobs` that its figures add up from."""
        return _row(self.get(f"/projects/{_part(project)}/report", month=month))

    def with_more(self, month: str, add: Sequence[str]) -> Row:
        """What the month's waits would have been with more nodes, as in `4x8xH800`."""
        return _row(self.get("/reports/with-more", month=month, add=list(add)))

    # What is registered, and what is served

    def templates(self) -> Rows:
        return _rows(self.get("/templates"))

    def add_template(self, content: Mapping[str, Any]) -> Row:
        return _row(self.post("/templates", {"content": dict(content)}))

    def datasets(self) -> Rows:
        return _rows(self.get("/datasets"))

    def register_dataset(self, name: str, path: str, note: str = "") -> Row:
        return _row(self.post("/datasets", {"name": name, "path": path, "note": note}))

    def models(self, name: str | None = None) -> Rows:
        return _rows(self.get("/models", name=name))

    def model(self, name: str, number: int) -> Row:
        return _row(self.get(f"/models/{_part(name)}/{number}"))

    def register_model(self, name: str, job: str, step: int | None = None) -> Row:
        """Register a job's verified checkpoint: its newest, or that of a step."""
        return _row(self.post("/models", {"name": name, "job": job, "step": step}))

    def services(self) -> Rows:
        return _rows(self.get("/services"))

    def service(self, project: str, name: str) -> Row:
        return _row(self.get(_service(project, name)))

    def deploy(self, name: str, project: str, version: str, template: str | None = None) -> Row:
        """Serve a model version, given as `name@number`."""
        return _row(
            self.post("/services", {"name": name, "project": project, "version": version, "template": template})
        )

    def shift(self, project: str, name: str, shares: Mapping[str, int], reason: str = "") -> Row:
        """Change the shares of versions (`name@number`), in percent."""
        return _row(self.post(f"{_service(project, name)}/shift", {"shares": dict(shares), "reason": reason}))

    def roll_back(self, project: str, name: str, reason: str = "") -> Row:
        return _row(self.post(f"{_service(project, name)}/rollback", {"reason": reason}))

    def service_history(self, project: str, name: str) -> Rows:
        """Splits, newest first."""
        return _rows(self.get(f"{_service(project, name)}/history"))

    def stop_service(self, project: str, name: str) -> Row:
        return _row(self.post(f"{_service(project, name)}/stop"))


def _given(values: Mapping[str, Any]) -> Row:
    return {name: value for name, value in values.items() if value is not None}


def _part(name: str) -> str:
    return quote(name, safe="")


def _service(project: str, name: str) -> str:
    return f"/services/{_part(project)}/{_part(name)}"


def _row(answer: Any) -> Row:
    return dict(answer)


def _rows(answer: Any) -> Rows:
    return list(answer)
