"""An attempt's token opens that attempt alone, and only for a while; who may not read it cannot, ranks least of all."""

import json
import os
import pwd
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live.jobs import TEMPLATE, Work
from tests.live.platform import Platform, opened, wait_until

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.geteuid() != 0, reason="absent: root: only root may start ranks as somebody else"),
]
TOKEN_KEPT_S = 2.0
NOBODY = pwd.getpwnam("nobody")
SECRET_FILES = (
    "token",
    "order.json",
    "agent.log",
    "secret",
    "client.json",
    "headway.db",
    "readings.db",
    "logs",
    "gateway",
)


@pytest.fixture(scope="module")
def guarded() -> Iterator[Platform]:
    """A server that forgets the tokens of ended attempts soon."""
    with opened(token_kept_s=TOKEN_KEPT_S) as platform:
        content = TEMPLATE | {"command": [_anybodys_python(), "{source}"]}
        platform.api.call("POST", "templates", json={"content": content})
        yield platform


@pytest.fixture(scope="module")
def ann(guarded: Platform) -> str:
    """The token of a member of the project whose account on this machine is `nobody`."""
    guarded.api.call("POST", "users", json={"name": "ann", "unix_name": "nobody"})
    guarded.api.call("POST", "users/ann/roles", json={"role": "member", "project": "nlp"})
    return str(guarded.api.call("POST", "users/ann/tokens", json={})["token"])


@pytest.fixture
def victim(guarded: Platform, ann: str) -> Work:
    work = Work(guarded, "looking", by=ann).submit()
    work.wait_for_step(1)
    return work


@pytest.fixture
def attacker(guarded: Platform, ann: str) -> Work:
    work = Work(guarded, "looking", by=ann).submit()
    work.wait_for_step(1)
    return work


def _anybodys_python() -> str:
    """An interpreter that the account `nobody` may run, wherever this test's own lies."""
    found = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        pytest.skip("absent: a system Python: no python3 that another user could run")
    return found


def _token(work: Work) -> str:
    return (_directory(work) / "token").read_text()


def _directory(work: Work) -> Path:
    attempt = work.api.job(work.id)["attempt"]
    return work.platform.node_directory(attempt["id"], attempt["placements"][0]["node"])


def _forged_reports() -> dict[str, dict[str, Any]]:
    """Progress, an exit and an end that never were."""
    now = time.time()
    agent = {"pid": 1, "start_ticks": 1, "version": "forged", "python": "3"}
    plain = {"seq": 1_000_000, "at": now, "agent": agent, "phase": "running"}
    line = json.dumps({"kind": "progress", "t": now, "step": 999_999}) + "\n"
    left = {"rank": 0, "at": now, "code": 1}
    return {
        "progress": plain | {"events": {"0": {"offset": 0, "data": line}}},
        "exit": plain | {"exits": [left]},
        "end": plain | {"phase": "ended", "exits": [left], "ended": {"at": now, "reason": "exited"}},
    }


def _send(work: Work, token: str | None, report: dict[str, Any] | None = None, text: bytes = b"") -> httpx.Response:
    """Speak as the agent of a job's attempt: a report, or else bytes of its log."""
    directory = _directory(work)
    path = f"agent/{directory.parent.name}/nodes/{directory.name}"
    headers = {"Authorization": f"Bearer {token}" if token else ""}
    if report is not None:
        return work.api.once("POST", f"{path}/report", json=report, headers=headers)
    query = {"offset": 0, "first": time.time(), "last": time.time(), "final": 1}
    return work.api.once("POST", f"{path}/logs/0", params=query, content=text, headers=headers)


def _send_all(work: Work, token: str | None) -> set[tuple[int, str]]:
    """Everything that can be forged; the answers' status and code."""
    answers = [_send(work, token, report) for report in _forged_reports().values()]
    answers.append(_send(work, token, text=b"forged\n"))
    return {(answer.status_code, answer.json().get("code", "")) for answer in answers}


def _known(work: Work) -> tuple[object, ...]:
    """What is recorded of a job but for its progress."""
    kinds = [fact["kind"] for fact in work.api.facts(work.id) if fact["kind"] != "progress-seen"]
    exits = work.api.attempts(work.id)[0]["exits"]
    return kinds, exits, work.api.log(work.id, 0), work.api.state(work.id)


def test_a_token_opens_no_other_attempt(victim: Work, attacker: Work) -> None:
    before = _known(victim)
    assert _send_all(victim, _token(attacker)) == {(403, "wrong-attempt")}
    assert _known(victim) == before
    assert victim.api.job(victim.id)["job"]["step"] < 999_999
    for work in (victim, attacker):
        work.finish()
        assert work.end() == "succeeded", work.story()


def test_an_unknown_token_opens_nothing(guarded: Platform, ann: str, victim: Work) -> None:
    before = _known(victim)
    users_own = ann
    for token in (None, "hwa_" + "0" * 64, users_own):
        assert _send_all(victim, token) == {(401, "not-logged-in")}
    assert _known(victim) == before
    victim.finish()
    assert victim.end() == "succeeded", victim.story()


def test_an_attempts_token_is_no_users(victim: Work) -> None:
    answer = victim.api.once("GET", f"jobs/{victim.id}", headers={"Authorization": f"Bearer {_token(victim)}"})
    assert answer.status_code == 401
    victim.finish()
    assert victim.end() == "succeeded", victim.story()


def test_a_token_is_refused_after_the_end(victim: Work) -> None:
    victim.finish()
    assert victim.end() == "succeeded", victim.story()
    token, before = _token(victim), _known(victim)
    report = _forged_reports()["progress"]
    wait_until(lambda: _send(victim, token, report).status_code == 409, "the token has expired", victim.story)
    assert _send_all(victim, token) == {(409, "attempt-over")}
    assert _known(victim) == before


def test_ranks_run_as_the_submitter_and_read_no_secret(victim: Work) -> None:
    wait_until(lambda: victim.has("seen.json"), "the rank has looked around", victim.story)
    seen = json.loads((victim.folder / "seen.json").read_text())
    assert (seen["uid"], seen["gid"], set(seen["groups"])) == (NOBODY.pw_uid, NOBODY.pw_gid, {NOBODY.pw_gid})
    assert seen["files"] == dict.fromkeys(SECRET_FILES, "PermissionError")
    assert seen["lists"] == "PermissionError"
    for name in ("token", "order.json"):
        status = (_directory(victim) / name).stat()
        assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, 0)
    victim.finish()
    assert victim.end() == "succeeded", victim.story()
