"""A server that is not root submits to a real Slurm as two mapped users, by sudo: what is theirs is theirs."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headway.engines.become import sudoers_line
from headway.engines.protocol import UnixUser
from tests.engines.slurm_testbed import Testbed
from tests.engines.somebody import account
from tests.live.api import Refused
from tests.live.jobs import Work
from tests.live.platform import wait_until
from tests.live.slurm.books import check_books
from tests.live.slurm.site import TYPE, Site, opened

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(280)]
SAVED = 25


@dataclass(frozen=True)
class Person:
    """A user, whose account on this machine it is, and their token."""

    name: str
    account: UnixUser
    token: str


@dataclass(frozen=True)
class Guarded:
    """The server's own account, its site, and two people."""

    server: UnixUser
    site: Site
    people: tuple[Person, Person]

    def check(self) -> str:
        """What `engine check` prints."""
        words = ["-m", "headway.server.main", "engine", "check", "slurm", "--home", str(self.site.platform.home)]
        done = subprocess.run([*self.site.platform.python, *words], capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        return done.stdout


@contextmanager
def allowed(server: UnixUser, *users: UnixUser) -> Iterator[None]:
    """The server's account may act as these users, as a site's administrator allows it."""
    rule = Path("/etc/sudoers.d", server.name)
    rule.write_text(sudoers_line(server.name, [user.name for user in users]) + "\n")
    rule.chmod(0o440)
    yield
    rule.unlink()


@pytest.fixture(scope="module")
def guarded(testbed: Testbed) -> Iterator[Guarded]:
    if shutil.which("sudo") is None:
        pytest.skip("absent: sudo: a server that is not root cannot act as its users")
    with account() as server, account() as ann, account() as bob:
        for each in (server, ann, bob):
            testbed.run("sacctmgr", "-i", "add", "user", each.name, "account=default")
        with opened(testbed, account=server, become="sudo") as site:
            yield Guarded(server, site, (person(site, "ann", ann), person(site, "bob", bob)))


def person(site: Site, name: str, owner: UnixUser) -> Person:
    """A member of the project, mapped to an account."""
    api = site.platform.api
    api.call("POST", "users", json={"name": name, "unix_name": owner.name})
    api.call("POST", f"users/{name}/roles", json={"role": "member", "project": "nlp"})
    return Person(name, owner, str(api.call("POST", f"users/{name}/tokens", json={})["token"]))


def work(site: Site, by: Person) -> Work:
    wanted = {"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1, "device_types": [TYPE]}
    return Work(site.platform, "ticking", by=by.token, resources=wanted)


def owners(folder: Path) -> set[int]:
    """Who owns a folder and whatever is in it."""
    return {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}


def test_the_check_names_exactly_the_sudoers_line_that_is_missing(guarded: Guarded) -> None:
    ann, bob = (each.account for each in guarded.people)
    with allowed(guarded.server, ann):
        told = guarded.check()
    assert f"    add to /etc/sudoers.d/headway: {guarded.server.name} ALL=({bob.name}) NOPASSWD: ALL\n" in told
    with allowed(guarded.server, ann, bob):
        told = guarded.check()
    assert f"✓ the server may act as the mapped users: {ann.name}, {bob.name}" in told
    assert f"✓ Slurm takes jobs submitted as the mapped users: {ann.name}, {bob.name}" in told


def test_jobs_of_two_users_are_theirs_and_survive_the_server_and_a_node(guarded: Guarded) -> None:
    site, since = guarded.site, datetime.now(UTC)
    with allowed(guarded.server, *(each.account for each in guarded.people)):
        works = [work(site, each).submit() for each in guarded.people]
        for each in works:
            each.wait_for_step(SAVED)
        site.platform.kill()
        site.platform.start()
        site.platform.wait_until_up()
        first, second = works
        (lost,) = (part["node"] for part in site.platform.api.job(first.id)["attempt"]["placements"])
        site.testbed.tool("kill", lost)
        first.wait_for_step(2 * SAVED, attempt=2)
        site.testbed.tool("up")
        second.api.call("POST", f"jobs/{second.id}/stop", json={})
        assert second.end() == "stopped", second.story()
        first.finish()
        assert first.end() == "succeeded", first.story()
        wait_until(lambda: not site.testbed.run("squeue", "-h"), "every job to have left Slurm", site.platform.log_tail)
    check_books(site, works, since)
    for each, by in zip(works, guarded.people, strict=True):
        _are_theirs(site, each, by)


def test_a_launch_that_waits_in_slurm_is_withdrawn_from_the_users_folder(guarded: Guarded) -> None:
    site, (ann, _) = guarded.site, guarded.people
    with allowed(guarded.server, ann.account):
        site.testbed.run("scontrol", "update", "partitionname=main", "state=down")
        waiting = work(site, ann).submit()
        wait_until(lambda: attempts(waiting) and site.testbed.run("squeue", "-h"), "it to wait", waiting.story)
        waiting.api.call("POST", f"jobs/{waiting.id}/stop", json={})
        ended = waiting.end()
        site.testbed.run("scontrol", "update", "partitionname=main", "state=up")
    assert ended == "stopped", waiting.story()
    assert not list(waiting.folder.glob("*.starts"))


def test_without_the_rule_a_job_is_refused_and_told_why(guarded: Guarded) -> None:
    bob = guarded.people[1]
    why = f"cannot act as {bob.account.name}: sudo: a password is required"
    refused = work(guarded.site, bob)
    with pytest.raises(Refused, match=why) as refusal:
        refused.submit()
    assert refusal.value.code == "cannot-become"
    refused.body.pop("source")
    refused.body["template"] = "waiting"
    refused.submit().wait_for_state("failed")
    assert why in refused.api.facts(refused.id, "launch-failed")[0]["data"]["reason"]


def _are_theirs(site: Site, work: Work, by: Person) -> None:
    """Its jobs, its files and its checkpoints are the user's, and closed to everybody but the server."""
    home, mine = site.platform.home, by.account.uid
    jobs = site.testbed.run("squeue", "-h", "-t", "all", "-n", ",".join(attempts(work)), "-o", "%u").split()
    assert set(jobs) == {by.account.name}
    checkpoints = home / "checkpoints" / work.id
    assert owners(checkpoints) - {home.stat().st_uid} == {mine}
    assert (checkpoints.stat().st_uid, checkpoints.stat().st_mode & 0o777) == (mine, 0o770)
    assert {path.stat().st_uid for path in work.folder.glob("*.starts")} == {mine}
    for attempt in attempts(work):
        for node in (home / "share" / attempt).iterdir():
            assert (node.stat().st_uid, node.stat().st_mode & 0o777) == (mine, 0o770)
            assert {path.lstat().st_uid for path in node.glob("rank-*")} == {mine}


def attempts(work: Work) -> list[str]:
    return [one["attempt"]["id"] for one in work.api.attempts(work.id)]
