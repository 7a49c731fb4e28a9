"""Which folder may hold a showcase: an empty one, or an earlier showcase, which is thrown away."""

import json
import shutil
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.server import locks

MARK = "showcase.json"
LOCK = "server.lock"


def is_showcase(home: Path) -> bool:
    """Whether everything in this home was played."""
    return (home / MARK).is_file()


def claim(home: Path) -> None:
    """Make the home empty and mark it. Raises `showcase-not-empty`, and `server-running` for one in use."""
    if locks.is_held(home / LOCK):
        raise PlatformError("server-running", home=str(home))
    if is_showcase(home):
        _clear(home)
    elif home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise PlatformError("showcase-not-empty", home=str(home))
    home.mkdir(parents=True, exist_ok=True)
    (home / MARK).write_text(json.dumps({"played": True}))


def refuse(home: Path) -> None:
    """Raise `showcase-home` where somebody would begin real work in a showcase."""
    if is_showcase(home):
        raise PlatformError("showcase-home", home=str(home))


def _clear(home: Path) -> None:
    """The mark goes last: a clearing that is cut short leaves a home that is still known for a showcase."""
    for path in home.iterdir():
        if path.name == MARK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
