"""A rank that tries to read what it must not, writes down who it is and what it could open, and goes on until told."""

import json
import os
import time
from pathlib import Path

import headway

run = headway.attach()
folder = Path(os.environ["LIVE_DIR"])
node = Path(os.environ["HEADWAY_RANK_DIR"]).parent
home = node.parent.parent.parent
wanted = [node / "token", node / "order.json", node / "agent.log", home / "secret", home / "client.json"]
wanted += [home / name for name in ("headway.db", "readings.db", "logs", "gateway")]


def opens(path: Path) -> str:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        return type(error).__name__
    return "opened"


seen = {"uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(), "lists": opens(node)}
(folder / "seen.new").write_text(json.dumps(seen | {"files": {path.name: opens(path) for path in wanted}}))
os.replace(folder / "seen.new", folder / "seen.json")
step = 0
while not (folder / "finish").exists():
    step += 1
    run.progress(step)
    time.sleep(0.05)
