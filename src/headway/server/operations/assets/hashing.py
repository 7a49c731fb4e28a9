"""A digest over every file below a folder. The standard library alone: it also runs as a program of another user.

No link is followed, and what cannot be read is an error: a digest of half a folder would be a lie.
"""

import hashlib
import json
import os
import stat
import sys

BLOCK = 1 << 20


def digest(folder: str) -> tuple[str, int, int]:
    """A digest over names, sizes and contents of the regular files below; total bytes; number of files. OSError."""
    whole, size, count = hashlib.sha256(), 0, 0
    for parts in sorted(_files(folder)):
        one = hashlib.sha256()
        descriptor = os.open(os.path.join(folder, *parts), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            for block in iter(lambda: file.read(BLOCK), b""):
                one.update(block)
                size += len(block)
        whole.update(os.fsencode("{}\0{}\n".format("/".join(parts), one.hexdigest())))
        count += 1
    return whole.hexdigest(), size, count


def _files(folder: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for place, _, names in os.walk(folder, onerror=_refuse):
        inside = os.path.relpath(place, folder)
        above: tuple[str, ...] = () if inside == os.curdir else tuple(inside.split(os.sep))
        found += [(*above, name) for name in names if stat.S_ISREG(os.lstat(os.path.join(place, name)).st_mode)]
    return found


def _refuse(error: OSError) -> None:
    raise error


def main(folder: str, *identity: str) -> None:
    """Become a user for good (uid, gid, groups; none: stay who it is) and print what `digest` returns as JSON.

    Where something could not be read it prints what and why instead.
    """
    if identity:
        uid, gid, *groups = (int(number) for number in identity)
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)
    try:
        print(json.dumps({"digest": digest(folder)}))
    except OSError as error:
        print(json.dumps({"path": error.filename or folder, "why": error.strerror}))


if __name__ == "__main__":
    main(*sys.argv[1:])
