"""The rank of LIVE_FAILS raises an error once it is told to; the others work on and do not listen to anybody."""

import os
import signal
import time
from pathlib import Path

import headway

run = headway.attach()
folder = Path(os.environ["LIVE_DIR"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
step = 0
while True:
    step += 1
    run.progress(step)
    if (folder / "finish").exists() and str(run.rank) == os.environ["LIVE_FAILS"]:
        raise ValueError("the batch does not fit the model")
    time.sleep(0.05)
