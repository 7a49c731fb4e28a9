"""Where a client finds the server's address and its token: the environment, else a private file in the home.

A token is a password: a file that others may read is refused, and a written one is private from its first byte.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headway.domain.errors import PlatformError

FILE = "client.json"
OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Access:
    """A server's address and a token for it (not shown when printed)."""

    url: str
    token: str | None = field(default=None, repr=False)


def client_file(environ: Mapping[str, str] = os.environ) -> Path:
    """`client.json` in HEADWAY_HOME, by default `~/.headway`."""
    return Path(environ.get("HEADWAY_HOME") or "~/.headway").expanduser() / FILE


def find_access(environ: Mapping[str, str] = os.environ) -> Access:
    """HEADWAY_URL and HEADWAY_TOKEN, the rest from the file. Raises `not-logged-in`, `client-file-open`.

    A token from the file is only ever sent to the address that stands beside it.
    """
    url, token = environ.get("HEADWAY_URL"), environ.get("HEADWAY_TOKEN")
    if url and token:
        return Access(url.rstrip("/"), token)
    kept = _read(client_file(environ))
    if url:
        return Access(url.rstrip("/"), kept.token if kept is not None and kept.url == url.rstrip("/") else None)
    if kept is None:
        raise PlatformError("not-logged-in")
    return Access(kept.url, token or kept.token)


def save_access(access: Access, path: Path) -> None:
    """Write the file, readable by its owner alone, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"url": access.url, "token": access.token}, file)
    os.replace(temporary, path)


def _read(path: Path) -> Access | None:
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & OTHERS:
                raise PlatformError("client-file-open", path=str(path))
            told = json.load(file)
        return Access(str(told["url"]).rstrip("/"), told.get("token"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise PlatformError("client-file-damaged", path=str(path), detail=str(problem)) from None
