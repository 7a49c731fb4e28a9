"""A rank that prints LIVE_MEGABYTES of numbered lines as fast as it can, and writes down how much and in what time."""

import json
import os
import time
from pathlib import Path

import headway

run = headway.attach()
folder = Path(os.environ["LIVE_DIR"])
wanted = int(os.environ["LIVE_MEGABYTES"]) << 20
written = number = 0
begun = time.monotonic()
while written < wanted:
    block = "".join(f"{number + line:012d} {'x' * 100}\n" for line in range(5000)).encode()
    number += 5000
    while block:
        done = os.write(1, block)
        written += done
        block = block[done:]
said = {"bytes": written, "lines": number, "seconds": time.monotonic() - begun}
(folder / "written.json").write_text(json.dumps(said))
