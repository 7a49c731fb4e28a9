"""The gateway's process: started in a session of its own, kept alive, never a child whose end would end traffic."""

import subprocess
import sys

from headway.server.locks import is_held
from headway.server.settings import Settings

LOCK = "gateway.lock"


def ensure(settings: Settings) -> bool:
    """Start the gateway of this home unless one lives; whether it was started."""
    folder = settings.home / "gateway"
    if is_held(folder / LOCK):
        return False
    command = [sys.executable, "-m", "headway.gateway.main", "run", "--dir", str(folder)]
    command += ["--host", settings.host, "--port", str(settings.gateway_port)]
    with (folder / "gateway.out").open("ab") as output:
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    return True
