"""The manifest of a checkpoint: what was saved, by whom, and the size and hash of every file.

Its bytes are canonical: a reader encodes again what it read and compares, so no byte of it can change unseen.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Dict, Optional, Tuple

MANIFEST = "manifest.json"
FORMAT = 1
MAX_BYTES = 64 << 20
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


@dataclass(frozen=True)
class FileEntry:
    """One file: its path below the checkpoint with `/` between parts, its size and its SHA-256 in hex."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint says of itself; `created_at` is aware, `torch` None where the program had none."""

    job: str
    attempt: str
    attempt_number: int
    step: int
    created_at: datetime
    world_size: int
    python: str
    torch: Optional[str]
    files: Tuple[FileEntry, ...]

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
    if body.get("format") != FORMAT:
        raise ValueError(f"format {body.get('format')!r}, this program reads {FORMAT}")
    digest = body.pop("digest", None)
    if digest != _digest(body) or content != _canonical({**body, "digest": digest}):
        raise ValueError("its digest does not match its content")
    return _values(body)


def _values(body: Dict[str, object]) -> Manifest:
    del body["format"]
    if set(body) != set(_TYPES) or any(not _is(body[name], kinds) for name, kinds in _TYPES.items()):
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
    if not isinstance(item, dict) or set(item) != {"path", "bytes", "sha256"}:
        raise ValueError("a file entry is not {path, bytes, sha256}")
    path, size, sha256 = item["path"], item["bytes"], item["sha256"]
    if not (_is(path, (str,)) and _is(size, (int,)) and _is(sha256, (str,))):
        raise ValueError("a file entry is not {path, bytes, sha256}")
    parts = path.split("/")
    if path == MANIFEST or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"file path {path!r} leads out of the checkpoint")
    return FileEntry(path, size, sha256)


def _is(value: object, kinds: Tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _digest(body: Dict[str, object]) -> str:
    return "sha256:" + hashlib.sha256(_canonical(body)).hexdigest()


def _canonical(body: Dict[str, object]) -> bytes:
    return json.dumps(body, sort_keys=True, indent=1).encode("ascii") + b"\n"
