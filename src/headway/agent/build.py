"""Builds `headway-agent.pyz`: the agent and the in-job SDK in one file that any Python from 3.9 on can run.

Holds the sources and, for the Python that builds it, their bytecode: a zip has no `__pycache__`, and compiling at
every start would cost more than starting. The same sources and Python always give the same bytes.
"""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

_MAIN = "import sys\nfrom headway.agent.main import main\n\nsys.exit(main())\n"
_CARRIED = ("__init__.py", "sdk/__init__.py", "agent/**/*.py", "sdk/job/**/*.py")
_NOT_CARRIED = "agent/build.py"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def build_zipapp(target: Path) -> Path:
    """Write the zipapp to `target`, whole or not at all, and answer `target`. Raises OSError."""
    package = Path(__file__).resolve().parent.parent
    sources = {"__main__.py": _MAIN.encode()}
    for pattern in _CARRIED:
        for path in package.glob(pattern):
            name = path.relative_to(package).as_posix()
            if name != _NOT_CARRIED:
                sources[f"headway/{name}"] = path.read_bytes()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{os.getpid()}.new")
    with draft.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            for name in sorted(sources):
                _add(archive, name, sources[name])
                _add(archive, f"{name}c", _bytecode(name, sources[name]))
    draft.chmod(0o755)
    draft.replace(target)
    return target


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Stored, not deflated: reading it back then needs neither zlib nor time."""
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


def _bytecode(name: str, source: bytes) -> bytes:
    """A .pyc whose validity hangs on nothing but the Python version (PEP 552, unchecked hash)."""
    import importlib.util
    import marshal

    code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    unchecked_hash = (1).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked_hash + importlib.util.source_hash(source) + marshal.dumps(code, 2)


if __name__ == "__main__":
    print(build_zipapp(Path(sys.argv[1])))
