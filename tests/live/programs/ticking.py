"""A rank that can be checked: what it prints goes into a mirror, every start leaves a mark, every save is noted.

It works until the file `finish` appears in LIVE_DIR, then ends as LIVE_END says: well, or with an error.
"""

import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import headway

LINES = 60
SAVE_EVERY = 20
STEP_S = 0.02

run = headway.attach()
folder = Path(os.environ["LIVE_DIR"])
name = f"{run.attempt}.rank{run.rank}"


def note(kind: str, text: str) -> None:
    with open(folder / f"{name}.{kind}", "a") as file:
        file.write(text)


class Mirrored:
    """Writes to the rank's output and then to its mirror, the same bytes in the same order."""

    def __init__(self) -> None:
        self.mirror = os.open(folder / f"{name}.mirror", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, text: str) -> None:
        for target in (1, self.mirror):
            left = text.encode()
            while left:
                left = left[os.write(target, left) :]

    def flush(self) -> None:
        pass


def work() -> None:
    values = {"step": 0}
    checkpoints = run.checkpoints(extra=values)
    step = checkpoints.restore()
    while not (folder / "finish").exists():
        step += 1
        sys.stdout.write("".join(f"{name} step {step} line {line} {'.' * (step % 60)}\n" for line in range(LINES)))
        values["step"] = step
        run.progress(step, loss=1 / step)
        note("steps", f"{step}\n")
        if step % SAVE_EVERY == 0 and checkpoints.save(step):
            note("saves", f"{step}\n")
        if run.should_stop():
            return
        time.sleep(STEP_S)
    if os.environ.get("LIVE_END") == "error":
        raise RuntimeError("told to fail")


sys.stdout = sys.stderr = Mirrored()  # type: ignore[assignment]
note("starts", f"{os.getpid()} {time.time()}\n")
if os.environ.get("LIVE_CHILD"):
    # A child that leaves its session, its parent and its output behind.
    child = subprocess.Popen(
        ["sleep", "3600"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    note("children", f"{child.pid}\n")
try:
    work()
except RuntimeError:
    traceback.print_exc()
    sys.exit(1)
