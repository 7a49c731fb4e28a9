"""What tables of volumes (`df`, `df -i`) say of an I/O error: a write that fails on a full volume failed because of it.

Never turns an error of reading, nor one on a volume that has room.
"""

import re
from collections.abc import Sequence

from headway.diagnosis.cause import Cause
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.reading.entry import Entry

_FULL = re.compile(r"\S.{0,200}?\s(?:100|9[89])%\s{1,8}(/\S{0,300})$")
_READ_ONLY = re.compile(r"^/(?:snap|cdrom|media|boot|sys|proc)\b")
_WRITE = re.compile(r"(?i)write|\bsav(?:e|ing)|flush|fsync|dump|checkpoint|ckpt|\.tmp\b|写|保存")
_PATH = re.compile(r"(?<![\w.])/[\w.-]{1,80}(?:/[\w.-]{1,80}){0,20}")


def full_volume(lead: Claim, entries: Sequence[Entry]) -> Entry | None:
    """The line that tells that the volume `lead` wrote to is full; without a path in `lead`, any full volume."""
    said = "\n".join(line.text for line in lead.lines)
    if lead.cause is not Cause.STORAGE_IO or not _WRITE.search(said):
        return None
    full = {found[1]: entry for entry in entries if (found := _FULL.match(entry.text))}
    writable = {mount: entry for mount, entry in full.items() if not _READ_ONLY.match(mount)}
    paths = [path for path in _PATH.findall(lead.lines[-1].text) if not path.endswith(".py")]
    held = [mount for mount in writable if any(f"{path}/".startswith(f"{mount.rstrip('/')}/") for path in paths)]
    return next((writable[mount] for mount in sorted(held if paths else writable)), None)
