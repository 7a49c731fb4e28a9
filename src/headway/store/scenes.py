"""What agents saw of attempts that hung: one small file a node and look, whole or not there, whatever it says."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote


class SceneBook:
    """The scenes below one folder, by attempt. Safe to use from many threads: a scene is written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, attempt: str, node: str, look: str, scene: Mapping[str, Any]) -> None:
        """Keep a node's scene; the same look of it again changes nothing."""
        path = self._of(attempt) / f"{quote(look, safe='')}@{quote(node, safe='')}.json"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            return
        draft = path.with_suffix(f".{os.getpid()}.new")
        with open(draft, "w", encoding="utf-8", opener=_private) as file:
            json.dump(scene, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)

    def of_attempt(self, attempt: str) -> list[tuple[str, str, dict[str, Any]]]:
        """Every (look, node, scene) of an attempt, oldest look first."""
        found = []
        for path in sorted(self._of(attempt).glob("*@*.json")):
            look, _, node = path.stem.partition("@")
            found.append((unquote(look), unquote(node), json.loads(path.read_text(encoding="utf-8"))))
        return found

    def _of(self, attempt: str) -> Path:
        return self._folder / quote(attempt, safe="")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
