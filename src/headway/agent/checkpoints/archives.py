"""Whether a file of weights or state is whole, from its own bookkeeping: a torch archive's directory and checksums, a
safetensors header. Reads every byte of an archive once, as that is what its checksums are for; imports no torch.
"""

from __future__ import annotations

import json
import zipfile

from headway.agent.checkpoints import inert
from headway.agent.checkpoints.folder import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.checkpoints.folder import Folder

MOST_PICKLE = 64 << 20
_OLD_TORCH = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"
TENSORS = (".safetensors",)
ARCHIVES = (".pt", ".pth", ".ckpt", ".bin", ".tar", ".pkl")


def check(folder: Folder, name: str) -> None:
    """A file by what its name says it is; one of no known kind need only be there. Raises Damaged."""
    if not folder.size(name):
        raise Damaged("empty-file", name)
    if name.endswith(TENSORS):
        check_tensors(folder, name)
    elif name.endswith(ARCHIVES):
        check_archive(folder, name)


def check_archive(folder: Folder, name: str) -> None:
    """A file `torch.save` wrote: its directory is there, and every member has its checksum. Raises Damaged.

    Files of torch before 1.6, and plain pickles, have neither: they must end as a pickle does.
    """
    with folder.open(name) as file:
        begins = file.read(len(_OLD_TORCH))
        if begins[:2] != b"PK":
            if begins[:1] != b"\x80":
                raise Damaged("not-an-archive", name)
            if begins != _OLD_TORCH:
                file.seek(-1, 2)
                if file.read(1) != b".":
                    raise Damaged("cut-short", name)
            return
        try:
            with zipfile.ZipFile(file) as archive:
                if not any(each.endswith("data.pkl") for each in archive.namelist()):
                    raise Damaged("not-an-archive", f"{name}: no data.pkl in it")
                bad = archive.testzip()
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
            raise Damaged("cut-short", f"{name}: {error}") from None
    if bad is not None:
        raise Damaged("wrong-checksum", f"{name}: {bad}")


def peek(folder: Folder, name: str) -> Any:
    """The values at the top of a torch archive, tensors left out; None where it is no archive or too large."""
    with folder.open(name) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                inner = next((each for each in archive.namelist() if each.endswith("/data.pkl")), None)
                if inner is None or archive.getinfo(inner).file_size > MOST_PICKLE:
                    return None
                return inert.read(archive.read(inner))
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError):
            return None


def check_tensors(folder: Folder, name: str) -> None:
    """A safetensors file is as long as its header says. Raises Damaged."""
    size = folder.size(name)
    with folder.open(name) as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(100 << 20, size - 8):
            raise Damaged("cut-short", name)
        header = _table(file.read(length), name)
    try:
        ends = [int(entry["data_offsets"][1]) for key, entry in header.items() if key != "__metadata__"]
    except (TypeError, KeyError, ValueError, IndexError):
        raise Damaged("not-an-archive", f"{name}: its header") from None
    if size != 8 + length + max(ends, default=0):
        raise Damaged("cut-short", f"{name} has {size} bytes, its header says {8 + length + max(ends, default=0)}")


def check_index(folder: Folder, name: str) -> None:
    """Every part that an index of weights names is there and whole. Raises Damaged."""
    parts = read_table(folder, name).get("weight_map")
    if not isinstance(parts, dict) or not parts:
        raise Damaged("not-an-archive", f"{name}: no weight_map")
    for part in sorted({str(value) for value in parts.values()}):
        if "/" in part:
            raise Damaged("not-an-archive", f"{name}: {part}")
        check(folder, part)


def read_table(folder: Folder, name: str) -> dict[str, Any]:
    """A JSON object in a file. Raises Damaged."""
    return _table(folder.read(name), name)


def _table(content: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise Damaged("cut-short", f"{name}: not JSON") from None
    if not isinstance(found, dict):
        raise Damaged("not-an-archive", f"{name}: not a table")
    return found
