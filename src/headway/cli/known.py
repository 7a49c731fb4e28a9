"""Names for a shell to complete: asked of the server within two seconds, kept a few seconds, and never an error."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.sdk.client import Client

FRESH_S = 10.0
ANSWER_S = 2.0
MOST = 200

ASK: dict[str, Callable[["Client"], list[str]]] = {
    "jobs": lambda api: [name for row in islice(api.jobs(limit=MOST), MOST) for name in _of_job(row)],
    "projects": lambda api: [row["name"] for row in api.projects()],
    "templates": lambda api: [row["name"] for row in api.templates()],
    "nodes": lambda api: [row["node"]["name"] for row in api.nodes()],
    "services": lambda api: [f"{row['service']['project']}/{row['service']['name']}" for row in api.services()],
    "models": lambda api: [f"{row['name']}@{row['number']}" for row in api.models()],
}


def known(what: str) -> list[str]:
    """Names of one kind, without doubles; nothing where the server cannot be asked."""
    with suppress(Exception):
        from headway.sdk.client import client_file, find_access

        access = find_access()
        path = client_file().with_name("completion.json")
        names = _kept(path, what, access.url)
        if names is None:
            names = list(dict.fromkeys(_ask(access, what)))
            _keep(path, what, access.url, names)
        return names
    return []


def _ask(access: Any, what: str) -> list[str]:
    from headway.sdk.client import Client

    with Client(access.url, access.token, patience_s=0, answer_s=ANSWER_S, ca_file=access.ca_file) as api:
        return ASK[what](api)


def _of_job(row: dict[str, Any]) -> tuple[str, str]:
    return row["job"]["spec"]["name"], row["job"]["id"]


def _kept(path: Path, what: str, url: str) -> list[str] | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        entry = json.loads(path.read_text(encoding="utf-8"))[f"{url} {what}"]
        if 0 <= time.time() - entry["at"] < FRESH_S:
            return [str(name) for name in entry["names"]]
    return None


def _keep(path: Path, what: str, url: str, names: list[str]) -> None:
    entries = {}
    with suppress(OSError, ValueError):
        entries = json.loads(path.read_text(encoding="utf-8"))
    entries[f"{url} {what}"] = {"at": time.time(), "names": names}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(entries, file)
        os.replace(temporary, path)
