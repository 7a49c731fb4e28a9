"""Transactions: writers take turns, readers never wait, errors undo everything."""

import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import pytest
from sqlalchemy.exc import DBAPIError

from headway.domain.errors import PlatformError
from headway.domain.events import StopRequested
from headway.store import cursors, facts, world
from headway.store.database import Database
from tests.store.rows import JOB, NOW

WRITE_AND_WAIT = """
import sys
from headway.store import cursors
from headway.store.database import Database
database = Database(sys.argv[1])
with database.write() as c:
    cursors.set(c, "kept", 1)
with database.write() as c:
    cursors.set(c, "lost", 1)
    print("written", flush=True)
    sys.stdin.read()
"""


def test_eight_threads_and_eight_more_databases_write_without_ever_finding_it_locked(
    database: Database, database_url: str
) -> None:
    strangers = [Database(database_url) for _ in range(8)]
    writers = [database] * 8 + strangers

    def count_up(writer: Database) -> None:
        for _ in range(25):
            with writer.write() as c:
                cursors.set(c, "count", cursors.get(c, "count") + 1)
            with writer.read() as c:
                assert cursors.get(c, "count") > 0

    with ThreadPoolExecutor(len(writers)) as pool:
        list(pool.map(count_up, writers))
    with database.read() as c:
        assert cursors.get(c, "count") == 25 * len(writers)
    for stranger in strangers:
        stranger.close()


def test_a_reader_sees_one_moment_and_does_not_wait_for_a_writer(database: Database) -> None:
    with database.write() as c:
        cursors.set(c, "loop", 1)
    with database.write() as writing:
        cursors.set(writing, "loop", 2)
        with database.read() as c:
            assert cursors.get(c, "loop") == 1
    with database.read() as reading:
        assert cursors.get(reading, "loop") == 2
        with database.write() as c:
            cursors.set(c, "loop", 3)
        assert cursors.get(reading, "loop") == 2
    with database.read() as c:
        assert cursors.get(c, "loop") == 3


def test_an_error_undoes_the_whole_transaction(database: Database) -> None:
    def work_and_break() -> None:
        with database.write() as c:
            cursors.set(c, "loop", 7)
            facts.append(c, StopRequested(at=NOW, by="ann", job=JOB, reason="user"))
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        work_and_break()
    with database.read() as c:
        assert cursors.get(c, "loop") == 0
        assert facts.last_seq(c) == 0


def test_a_killed_writer_leaves_nothing_and_gives_up_its_turn(database: Database, database_url: str) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITE_AND_WAIT, database_url], stdin=PIPE, stdout=PIPE)
    with writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"written\n"
        writer.kill()
    with database.write() as c:
        assert cursors.get(c, "kept") == 1
        assert cursors.get(c, "lost") == 0
        cursors.set(c, "kept", 2)


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DBAPIError), database.read() as c:
        world.bump(c)


def test_a_write_inside_a_write_is_refused_and_not_a_deadlock(database: Database) -> None:
    with database.write(), pytest.raises(RuntimeError, match="writing already"), database.write():
        pass
    with database.write() as c:
        cursors.set(c, "loop", 1)


def test_another_thread_waits_for_its_turn(database: Database) -> None:
    done = threading.Event()

    def second() -> None:
        with database.write() as c:
            assert cursors.get(c, "first") == 1
        done.set()

    thread = threading.Thread(target=second)
    with database.write() as c:
        thread.start()
        cursors.set(c, "first", 1)
        assert not done.is_set()
    thread.join(60)
    assert done.is_set()


def test_the_sqlite_files_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "headway.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    modes = [stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()]
    database.close()
    assert set(modes) == {0o600}


@pytest.mark.parametrize("url", ["mysql://u:secret@h/x", "sqlite://", "sqlite:///:memory:", "nonsense", ""])
def test_another_kind_of_database_is_refused_with_the_way_out(url: str) -> None:
    with pytest.raises(PlatformError) as refused:
        Database(url)
    assert refused.value.code == "invalid-field"
    assert "postgresql://" in str(refused.value)
    assert "secret" not in str(refused.value)
