"""A reader's shell: one bash that keeps its variables from command to command."""

import signal
import subprocess
import threading
from pathlib import Path

MARK = "=== the command has ended with"


class Shell:
    """Runs commands one after the other in a folder; what they print comes with their exit code."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def run(self, command: str, deadline_s: float = 120.0) -> tuple[int, str]:
        """Exit code and output, errors among them. A command that outlives the deadline ends the shell."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{{ {command}\n}} < /dev/null\nprintf '\\n%s %s\\n' '{MARK}' $?\n")
        self._process.stdin.flush()
        watchdog = threading.Timer(deadline_s, self._process.send_signal, [signal.SIGKILL])
        watchdog.start()
        output = ""
        try:
            for line in self._process.stdout:
                if line.startswith(MARK):
                    return int(line.removeprefix(MARK)), output.removesuffix("\n")
                output += line
        finally:
            watchdog.cancel()
        raise TimeoutError(f"not done within {deadline_s:.0f} s: {command}\n{output}")

    def close(self) -> None:
        """End the shell."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.kill()
        self._process.wait()
