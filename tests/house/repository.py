"""The repository as these tests see it: its rooms and the files that git keeps or would keep."""

import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "src/headway"
ROOMS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())


@cache
def kept_files() -> tuple[Path, ...]:
    """Every file in git, and new ones that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return tuple(path for name in done.stdout.split("\0") if name and (path := REPOSITORY / name).is_file())


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def shown(path: Path) -> str:
    """A path as it is said in a failure."""
    return str(path.relative_to(REPOSITORY))
