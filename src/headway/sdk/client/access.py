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
    """A server's address, a token for it (not shown when printed), and what signs its certificate: a file of PEM
    certificates trusted for it alone, None for what the machine trusts."""

    url: str
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None


def client_file(environ: Mapping[str, str] = os.environ) -> Path:
    """`client.json` in HEADWAY_HOME, by default `~/.headway`."""
    return Path(environ.get("HEADWAY_HOME") or "~/.headway").expanduser() / FILE


def find_access(environ: Mapping[str, str] = os.environ) -> Access:
    """HEADWAY_URL, HEADWAY_TOKEN, HEADWAY_CA_FILE, the rest from the file. Raises `not-logged-in`, `client-file-open`.

    A token from the file is only ever sent to the address that stands beside it, and its authority trusted for that
    address only.
    """
    url, token = environ.get("HEADWAY_URL"), environ.get("HEADWAY_TOKEN")
    ca_file = environ.get("HEADWAY_CA_FILE") or None
    if url and token:
        return Access(url.rstrip("/"), token, ca_file)
    kept = _read(client_file(environ))
    if url:
        mine = kept if kept is not None and kept.url == url.rstrip("/") else Access(url.rstrip("/"))
        return Access(mine.url, mine.token, ca_file or mine.ca_file)
    if kept is None:
        raise PlatformError("not-logged-in")
    return Access(kept.url, token or kept.token, ca_file or kept.ca_file)


def save_access(access: Access, path: Path) -> None:
    """Write the file, readable by its owner alone, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"url": access.url, "token": access.token, "ca_file": access.ca_file}, file)
    os.replace(temporary, path)


def _read(path: Path) -> Access | None:
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & OTHERS:
                raise PlatformError("client-file-open", path=str(path))
            told = json.load(file)
        return Access(str(told["url"]).rstrip("/"), told.get("token"), told.get("ca_file"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise PlatformError("client-file-damaged", path=str(path), detail=str(problem)) from None
