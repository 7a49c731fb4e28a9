"""The manifest of a checkpoint: what was saved, by whom, how it is laid out, and the size and hash of every file.

Its bytes are canonical: a reader encodes again what it read and compares, so no byte of it can change unseen.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Dict, Optional, Tuple

from headway.sdk.job.hashing import algorithm_of

MANIFEST = "manifest.json"
FORMAT = 2
MAX_BYTES = 64 << 20
FULL = {"kind": "full"}
_TYPES: Dict[str, Tuple[type, ...]] = {
    "job": (str,),
    "attempt": (str,),
    "attempt_number": (int,),
    "step": (int,),
    "created_at": (str,),
    "world_size": (int,),
    "python": (str,),
    "torch": (str, type(None)),
    "files": (list,),
}
_SINCE_2: Dict[str, Tuple[type, ...]] = {
    "save": (str,),
    "layout": (dict,),
    "data": (dict, list, str, int, float, bool, type(None)),
    "random": (str, type(None)),
}


@dataclass(frozen=True)
class FileEntry:
    """One file: its path below the checkpoint with `/` between parts, its size and its hash as `algorithm:hex`."""

    path: str
    bytes: int
    hash: str


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint says of itself; `created_at` is aware, `torch` None where the program had none.

    `save` is the same for the parts of one save and no other. `layout`: `{"kind": "full"}`, one file of everything, or
    `{"kind": "sharded", ...}`, a part for each of `world_size` ranks. `data`: where rank 0 stood in its data, where
    JSON can say it. `random`: the file that holds rank 0's random numbers.
    """

    job: str
    attempt: str
    attempt_number: int
    step: int
    created_at: datetime
    world_size: int
    python: str
    torch: Optional[str]
    files: Tuple[FileEntry, ...]
    save: str = ""
    layout: Dict[str, Any] = field(default_factory=lambda: dict(FULL))
    data: Any = None
    random: Optional[str] = None

    @property
    def bytes(self) -> int:
        """Size of all files together, the manifest itself left out."""
        return sum(entry.bytes for entry in self.files)


def encode_manifest(manifest: Manifest) -> bytes:
    """The one way these values are written, with a digest of all the rest."""
    body = {**asdict(manifest), "created_at": manifest.created_at.isoformat(), "format": FORMAT}
    return _canonical({**body, "digest": _digest(body)})


def decode_manifest(content: bytes) -> Manifest:
    """The values of a manifest; ValueError says what is wrong with it."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")
    if body.get("format") not in (1, FORMAT):
        raise ValueError(f"format {body.get('format')!r}, this program reads 1 and {FORMAT}")
    digest = body.pop("digest", None)
    if digest != _digest(body) or content != _canonical({**body, "digest": digest}):
        raise ValueError("its digest does not match its content")
    return _values(body)


def _values(body: Dict[str, object]) -> Manifest:
    types = _TYPES if body.pop("format") == 1 else {**_TYPES, **_SINCE_2}
    if set(body) != set(types) or any(not isinstance(body[name], kinds) for name, kinds in types.items()):
        raise ValueError("fields are missing, unknown or of another type")
    if any(isinstance(body[name], bool) for name, kinds in types.items() if kinds == (int,)):
        raise ValueError("fields are missing, unknown or of another type")
    files = body.pop("files")
    created_at = datetime.fromisoformat(str(body.pop("created_at")))
    if created_at.tzinfo is None:
        raise ValueError("created_at has no time zone")
    entries = tuple(_entry(item) for item in files)  # type: ignore[attr-defined]
    if len({entry.path for entry in entries}) < len(entries):
        raise ValueError("a file is listed twice")
    return Manifest(created_at=created_at, files=entries, **body)  # type: ignore[arg-type]


def _entry(item: object) -> FileEntry:
    """An entry of either format: the first named its SHA-256 by the field."""
    if not isinstance(item, dict) or set(item) not in ({"path", "bytes", "hash"}, {"path", "bytes", "sha256"}):
        raise ValueError("a file entry is not {path, bytes, hash}")
    path, size = item["path"], item["bytes"]
    named = item["hash"] if "hash" in item else f"sha256:{item['sha256']}"
    if not (isinstance(path, str) and type(size) is int and isinstance(named, str)):
        raise ValueError("a file entry is not {path, bytes, hash}")
    parts = path.split("/")
    if path == MANIFEST or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"file path {path!r} leads out of the checkpoint")
    algorithm_of(named)
    return FileEntry(path, size, named)


def _digest(body: Dict[str, object]) -> str:
    return "sha256:" + hashlib.sha256(_canonical(body)).hexdigest()


def _canonical(body: Dict[str, object]) -> bytes:
    return json.dumps(body, sort_keys=True, indent=1).encode("ascii") + b"\n"
