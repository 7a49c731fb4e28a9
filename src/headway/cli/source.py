"""Which commit a source folder is at, so that weights can be traced to the code that made them."""

import subprocess
from pathlib import Path

PATIENCE_S = 10
CHANGED = "-dirty"


def commit_of(folder: Path) -> str | None:
    """The commit, with `-dirty` where files below the folder differ from it; None outside a repository."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    changed = _git(folder, "status", "--porcelain", "--", ".")
    return commit if changed == "" else commit + CHANGED


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
