"""Resuming over HTTP: once however often it is sent, by who may submit, and refused with a way out."""

from fastapi.testclient import TestClient

from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run
from headway.server.access import Role
from headway.server.platform import Platform
from headway.store import facts
from tests.server.conftest import People
from tests.server.test_bad_input import GOOD


def ended(http: TestClient, admin: dict[str, str], platform: Platform, step: int | None = 40) -> str:
    """A job that was stopped while it waited, with a checkpoint of this step in its folder."""
    job: str = http.post("jobs", json=GOOD, headers=admin).json()["id"]
    if step is not None:
        told = {"HEADWAY_JOB": job, "HEADWAY_ATTEMPT": "offline", "HEADWAY_ATTEMPT_NUMBER": "1"}
        told["HEADWAY_CHECKPOINT_DIR"] = str(platform.checkpoints / job)
        Run(read_environment(told)).checkpoints(extra={"step": step}, keep=9).save(step)
    http.post(f"jobs/{job}/stop", json={}, headers=admin)
    return job


def test_a_resume_sent_twice_with_one_key_is_one_job(
    http: TestClient, admin: dict[str, str], platform: Platform
) -> None:
    job = ended(http, admin, platform)
    keyed = admin | {"Idempotency-Key": "k-1"}
    first, again = (http.post(f"jobs/{job}/resume", json={"nodes": 2}, headers=keyed) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert first.json()["spec"]["origin"]["step"] == 40
    assert first.json()["spec"]["request"]["nodes"] == 2
    assert len(http.get("jobs", headers=admin).json()["items"]) == 2


def test_a_dry_run_tells_everything_in_the_readers_language_and_creates_nothing(
    http: TestClient, people: People, admin: dict[str, str], platform: Platform
) -> None:
    job = ended(http, admin, platform)
    with platform.database.read() as c:
        before = facts.last_seq(c)
    move = http.post(f"jobs/{job}/resume/dry-run", json={}, headers=admin | {"Accept-Language": "zh"}).json()
    assert move["step"] == 40
    whats = [each["what"] for each in move["carries"]]
    assert whats == ["checkpoint", "world", "data", "random", "cards", "path", "quota"]
    assert move["carries"][0]["sentence"].startswith("第 40 步")
    with platform.database.read() as c:
        assert facts.last_seq(c) == before


def test_refusals_name_what_is_wrong_and_create_nothing(
    http: TestClient, people: People, admin: dict[str, str], platform: Platform
) -> None:
    job, empty = ended(http, admin, platform), ended(http, admin, platform, None)
    waiting = http.post("jobs", json=GOOD, headers=admin).json()["id"]
    viewer = people.headers(people.token("vera", Role.VIEWER, "nlp"))
    for target, wish, headers, status, code in [
        (job, {}, viewer, 403, "forbidden"),
        (job, {"pools": "x"}, admin, 422, "unknown-field"),
        (job, {"pool": "moon"}, admin, 404, "not-found"),
        (job, {"nodes": 9}, admin, 422, "impossible-request"),
        (empty, {}, admin, 409, "no-checkpoint"),
        (waiting, {}, admin, 409, "still-live"),
    ]:
        answer = http.post(f"jobs/{target}/resume", json=wish, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert answer.json()["hint"]
    assert len(http.get("jobs", headers=admin).json()["items"]) == 3
