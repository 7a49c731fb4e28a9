"""Data sets are read with the rights of who names them: a server that is root gives nothing of its own away."""

import hashlib
import os
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headway.server.access import Role
from headway.server.platform import Platform
from headway.store import assets
from tests.server.conftest import People

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="absent: root: only root can read as another user")


def register(http: TestClient, headers: dict[str, str], path: object) -> tuple[int, dict[str, object]]:
    answer = http.post("datasets", json={"name": "text", "path": str(path)}, headers=headers)
    return answer.status_code, answer.json()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that every account may reach."""
    made = tmp_path / "data"
    (made / "deep").mkdir(parents=True)
    (made / "a.txt").write_bytes(b"one")
    (made / "deep" / "b.txt").write_bytes(b"two!")
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_uid == os.geteuid() and str(above).startswith("/tmp/"):
            above.chmod(0o755)
    return made


@pytest.fixture
def ann(people: People) -> dict[str, str]:
    unix = "nobody" if os.geteuid() == 0 else None
    return people.headers(people.token("ann", Role.MEMBER, "nlp", unix=unix))


def test_a_data_set_is_its_files_names_and_contents(http: TestClient, ann: dict[str, str], folder: Path) -> None:
    status, version = register(http, ann, folder)
    lines = [
        f"{name}\0{hashlib.sha256(text).hexdigest()}\n" for name, text in (("a.txt", b"one"), ("deep/b.txt", b"two!"))
    ]
    assert (status, version["files"], version["bytes"]) == (201, 2, 7)
    assert version["digest"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert register(http, ann, folder)[1] == version


@needs_root
@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_what_the_user_may_not_read_below_is_refused(
    http: TestClient, ann: dict[str, str], folder: Path, platform: Platform, what: str
) -> None:
    secret = folder / "secret"
    if what == "a file":
        secret.write_text("private")
        secret.chmod(0o600)
    else:
        secret.mkdir(mode=0o700)
    status, problem = register(http, ann, folder)
    assert (status, problem["code"]) == (422, "not-readable")
    assert str(secret) in str(problem["detail"])
    with platform.database.read() as c:
        assert assets.datasets(c) == []


def test_no_link_is_followed(http: TestClient, ann: dict[str, str], folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "c.txt").write_text("three")
    before = register(http, ann, folder)[1]
    (folder / "file").symlink_to(elsewhere / "c.txt")
    (folder / "folder").symlink_to(elsewhere)
    os.mkfifo(folder / "pipe")
    assert register(http, ann, folder)[1]["digest"] == before["digest"]


def test_a_relative_folder_is_refused(http: TestClient, ann: dict[str, str]) -> None:
    status, problem = register(http, ann, "tmp")
    assert (status, problem["code"]) == (422, "invalid-field")
    assert "absolute path" in str(problem["detail"])
