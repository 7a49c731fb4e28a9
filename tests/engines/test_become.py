"""Acting as another account: what is run, and folders that are the user's and ours."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.engines import become
from headway.engines.become import acting_as, empty, hand_over, needs_sudo, sudoers_line, try_to_become
from headway.engines.protocol import UnixUser
from tests.engines.somebody import account

ANN = UnixUser("ann", 1001, 1001, (1001, 44), "/home/ann")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="absent: root: only root makes accounts")


@pytest.fixture
def somebody() -> Iterator[UnixUser]:
    with account() as user:
        yield user


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder of ours that everybody may pass through."""
    folder = Path("/tmp", f"headway-become-{os.getpid()}")
    folder.mkdir()
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def test_root_becomes_the_user_and_anybody_else_asks_sudo_with_the_same_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    argv, env = ["sbatch", "--parsable"], {"PATH": "/usr/bin", "HOME": "/home/ann"}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    asked = acting_as(ANN, argv, env, 30.0)
    assert (asked.argv, asked.env) == (argv, env)
    assert asked.account == {"user": 1001, "group": 1001, "extra_groups": (1001, 44)}
    monkeypatch.setattr(os, "geteuid", lambda: 990)
    asked = acting_as(ANN, argv, env, 30.0)
    words = "sudo -n -u ann -- env -i PATH=/usr/bin HOME=/home/ann timeout --kill-after=2 30.0 sbatch --parsable"
    assert list(asked.argv) == words.split()
    assert acting_as(None, argv, env).argv == argv
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    assert (acting_as(ANN, argv, env).argv, needs_sudo(ANN)) == (argv, False)


def test_the_line_of_sudoers_names_the_server_and_its_users() -> None:
    assert sudoers_line("headway", ["ann", "bob"]) == "headway ALL=(ann,bob) NOPASSWD: ALL"


@needs_root
def test_a_folder_handed_over_is_the_users_and_our_groups_and_nobody_elses(somebody: UnixUser, parent: Path) -> None:
    hand_over(somebody, parent, ["n1", "n2"])
    for name in ("n1", "n2"):
        status = (parent / name).stat()
        assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (somebody.uid, os.getegid(), 0o2770)
    assert sorted(path.name for path in parent.iterdir()) == ["n1", "n2"]


@needs_root
def test_a_folder_that_is_theirs_stays_as_they_made_it(somebody: UnixUser, parent: Path) -> None:
    hand_over(somebody, parent, ["n1"])
    (parent / "n1").chmod(0o700)
    (parent / "n1" / "kept").touch()
    hand_over(somebody, parent, ["n1", "n2"])
    assert stat.S_IMODE((parent / "n1").stat().st_mode) == 0o700
    assert (parent / "n1" / "kept").exists()
    assert (parent / "n2").is_dir()


@needs_root
def test_where_groups_are_not_handed_down_it_is_refused_and_nothing_stays(
    somebody: UnixUser, parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(become, "STAGING", stat.S_ISVTX | 0o733)
    with pytest.raises(PlatformError, match="does not hand its group down") as refusal:
        hand_over(somebody, parent, ["n1"])
    assert refusal.value.code == "cannot-become"
    assert not list(parent.iterdir())


@needs_root
def test_who_may_not_act_as_a_user_is_told_why(somebody: UnixUser, monkeypatch: pytest.MonkeyPatch) -> None:
    assert try_to_become(somebody) is None
    monkeypatch.setattr(become, "acting_as", lambda *_: become.Acting(["/bin/sh", "-c", "echo no >&2; exit 1"], {}))
    assert try_to_become(somebody) == "no"


@needs_root
def test_what_a_user_has_in_a_folder_is_removed_by_them_and_nothing_outside_it(
    somebody: UnixUser, parent: Path
) -> None:
    hand_over(somebody, parent, ["n1", "kept"])
    private = parent / "n1/rank-0"
    private.mkdir(mode=0o700)
    os.chown(private, somebody.uid, somebody.gid)
    (private / "outside").symlink_to(parent / "kept")
    (parent / "kept/weights").write_text("x")
    empty(somebody, parent / "n1")
    assert list((parent / "n1").iterdir()) == []
    assert (parent / "kept/weights").read_text() == "x"
    with pytest.raises(PlatformError, match="cannot act as"):
        empty(somebody, parent / "nowhere")
