"""Facts of the node, told once in the first report: cards, kernel, driver, Python, torch, mounts. What is not there
is null."""

from __future__ import annotations

import os
import sys

from headway.agent import files
from headway.agent.granted import granted
from headway.agent.scene import mounts
from headway.agent.scene.place import file_systems, used_mounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.agent.order import Order


def gather(order: Order, directory: str) -> dict[str, object]:
    """What can be read without starting a process."""
    system = os.uname()
    return {
        "host": system.nodename,
        "kernel": system.release,
        "machine": system.machine,
        "system": _line_value("/etc/os-release", "PRETTY_NAME="),
        "cards": sorted(granted(order, os.environ).values()),
        "taken_at": _taken_at(),
        "driver": _driver(order.device_maker),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "torch": _torch(order),
        "cores": os.cpu_count(),
        "mounts": used_mounts(order, directory),
        "boot": mounts.boot(),
        "file_systems": file_systems(),
    }


def _taken_at() -> float | None:
    """Since when a batch system's queue has let the attempt have its devices, as whoever started this agent tells."""
    text = os.environ.get("HEADWAY_TAKEN_AT", "")
    return float(text) if text.isdigit() else None


def _line_value(path: str, start: str) -> str | None:
    for line in (files.read_text(path) or "").splitlines():
        if line.startswith(start):
            return line[len(start) :].strip().strip('"')
    return None


def _driver(maker: str) -> str | None:
    if maker == "nvidia":
        words = (files.read_text("/proc/driver/nvidia/version") or "").split()
        return next((word for word in words if word.count(".") >= 1 and word[0].isdigit()), None)
    if maker == "ascend":
        return _line_value("/usr/local/Ascend/driver/version.info", "Version=")
    return None


def _torch(order: Order) -> str | None:
    """The torch beside the command's own Python, by the name of its metadata folder."""
    program = order.command[0]
    if not program.rpartition("/")[2].startswith(("python", "torchrun")):
        return None
    search = order.env.get("PATH", os.environ.get("PATH", os.defpath)).split(":")
    places = [program] if "/" in program else [os.path.join(folder, program) for folder in search]
    found = next((place for place in places if os.access(place, os.X_OK)), None)
    if found is None:
        return None
    library = os.path.join(os.path.dirname(os.path.dirname(found)), "lib")
    for folder in _names(library, "python3"):
        for packages in ("site-packages", "dist-packages"):
            for name in _names(os.path.join(library, folder, packages), "torch-"):
                return name[len("torch-") :].rpartition(".dist-info")[0] or None
    return None


def _names(directory: str, start: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if name.startswith(start))
    except OSError:
        return []
