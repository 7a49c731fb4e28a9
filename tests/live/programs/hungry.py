"""A rank that takes more and more memory once it is told that there is a limit."""

import os
import time
from pathlib import Path

import headway

run = headway.attach()
folder = Path(os.environ["LIVE_DIR"])
taken = []
run.progress(1)
while True:
    if (folder / "limited").exists():
        taken.append(bytearray(os.urandom(1 << 20) * 8))
    else:
        time.sleep(0.05)
