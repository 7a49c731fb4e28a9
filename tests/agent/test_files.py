"""The agent's own files: nobody else's, unless the engine shares the directory by its group."""

import stat
from pathlib import Path

import pytest

from headway.agent import files
from headway.agent.journal import Journal
from headway.agent.run import _lock


@pytest.mark.parametrize(("directory", "mode"), [(0o711, 0o600), (0o2770, 0o660)])
def test_what_the_agent_writes_is_its_own_or_its_groups_too_where_the_directory_hands_its_group_down(
    tmp_path: Path, directory: int, mode: int
) -> None:
    tmp_path.chmod(directory)
    files.write_json(str(tmp_path / "final.json"), {})
    Journal(str(tmp_path / "agent.log")).note("begun")
    assert _lock(str(tmp_path)) is not None
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"final.json": mode, "agent.log": mode & ~0o022, "agent.lock": mode}
