"""Make a dataset version folder from Python's own standard-library sources on this machine, tokenised to bytes.

`data.bin` holds one token a byte, files in order of their names; `manifest.json` says which files, how many bytes, and
their hashes, so that the same sources give the same version.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sysconfig
from pathlib import Path

LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__"}


def sources(root: Path) -> list[Path]:
    """The standard library's Python files, by name, without tests and installed packages."""
    found = (path for path in root.rglob("*.py") if not LEFT_OUT.intersection(path.relative_to(root).parts))
    return sorted(path for path in found if path.is_file())


def prepare(root: Path, out: Path, max_bytes: int) -> dict[str, object]:
    """Write `out/data.bin` of at most `max_bytes` and `out/manifest.json`; returns the manifest."""
    out.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, object]] = []
    whole = hashlib.sha256()
    total = 0
    with open(out / "data.bin", "wb") as data:
        for path in sources(root):
            content = path.read_bytes()
            if total + len(content) > max_bytes:
                continue
            data.write(content)
            whole.update(content)
            total += len(content)
            digest = hashlib.sha256(content).hexdigest()
            entries.append({"path": path.relative_to(root).as_posix(), "bytes": len(content), "sha256": digest})
    manifest: dict[str, object] = {
        "format": 1,
        "source": "Python standard library",
        "license": "PSF-2.0",
        "python": sysconfig.get_python_version(),
        "tokens": "uint8, one a byte",
        "bytes": total,
        "sha256": whole.hexdigest(),
        "files": entries,
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return manifest


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a dataset version folder from Python's standard library.")
    parser.add_argument("out", type=Path, help="folder to make")
    parser.add_argument("--max-bytes", type=int, default=4_000_000, help="leave out files beyond (default 4000000)")
    arguments = parser.parse_args()
    manifest = prepare(Path(sysconfig.get_path("stdlib")), arguments.out, arguments.max_bytes)
    files = manifest["files"]
    assert isinstance(files, list)
    print(f"{arguments.out}: {len(files)} files, {manifest['bytes']} bytes, sha256 {manifest['sha256']}")


if __name__ == "__main__":
    main()
