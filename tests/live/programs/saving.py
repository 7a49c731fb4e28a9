"""A rank whose first attempt saves three checkpoints and waits to be killed; later ones restore, step once and end."""

import os
import time
from pathlib import Path

import headway

run = headway.attach()
folder = Path(os.environ["LIVE_DIR"])
values = {"step": 0, "filling": "x" * 5000}
checkpoints = run.checkpoints(extra=values)
step = checkpoints.restore()
assert values["step"] == step
if run.attempt.endswith(".1"):
    for step in (10, 20, 30):
        values["step"] = step
        run.progress(step)
        checkpoints.save(step)
    (folder / "saved").touch()
    time.sleep(3600)
run.progress(step + 1)
