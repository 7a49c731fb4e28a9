"""The closing line of a test run names the parts that this machine lacks."""

import os
import subprocess
import sys
from pathlib import Path

NEEDY = """
def test_needs_the_shared_folder(shared):
    raise AssertionError("it is there")

def test_needs_a_database(database):
    with database.read() as c:
        assert c.dialect.name == "sqlite"
"""


def run_pytest(folder: Path, **environment: str) -> str:
    """What pytest prints for two tests that need parts, with this repository's fixtures."""
    (folder / "test_needy.py").write_text(NEEDY)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-c",
        "/dev/null",
        "-p",
        "no:cacheprovider",
        "-q",
    ]
    ran = subprocess.run(
        [*command, "--rootdir", str(folder), str(folder)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout


def test_absent_parts_are_skipped_and_named_in_the_closing_line(tmp_path: Path) -> None:
    printed = run_pytest(tmp_path, HEADWAY_SHARED="/nonexistent", HEADWAY_POSTGRES="/nonexistent")
    assert "1 passed, 2 skipped" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("skipped parts: ")]
    assert "../shared: no folder /nonexistent" in line
    assert "PostgreSQL: no initdb" in line
