"""Starts one process in a session of its own, as the order's user, bound to die with the agent.

Forks itself rather than through `subprocess`: half of an agent's start-up would go into importing that, and the order
of the steps matters (a change of user clears the death signal, so it is asked for last).
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headway.agent.order import User

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class StartError(Exception):
    """The program could not be started; the text says at which step and why."""


class Program:
    """What to start: words, environment, working directory, and the user it runs as (None: as the agent)."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], workdir: str, user: User | None = None) -> None:
        self.command = command
        self.env = env
        self.workdir = workdir
        self.user = user


class Launcher:
    """Starts programs as children of this process, which adopts what they leave behind where the kernel lets it."""

    def __init__(self) -> None:
        self._prctl = _find_prctl()
        self._parent = os.getpid()
        self._null = os.open("/dev/null", os.O_RDONLY)
        self.adopts = self._prctl is not None and self._prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0

    def start(self, program: Program, output: int) -> int:
        """The pid of the started program, whose stdout and stderr go to `output`. Raises StartError."""
        told, tell = os.pipe()
        pid = os.fork()
        if not pid:
            self._become(program, output, tell)
        os.close(tell)
        try:
            failure = os.read(told, 4096)
        finally:
            os.close(told)
        if failure:
            os.waitpid(pid, 0)
            raise StartError(failure.decode("utf-8", "replace"))
        return pid

    def _become(self, program: Program, output: int, tell: int) -> None:
        """In the child: turn into the program, or tell why not and leave. Never returns."""
        step = "session"
        try:
            os.setsid()
            os.dup2(self._null, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            step = "user"
            _change_user(program.user)
            self._die_with_parent()
            step = f"workdir '{program.workdir}'"
            os.chdir(program.workdir)
            for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(ignored, signal.SIG_DFL)
            step = f"command '{program.command[0]}'"
            os.execvpe(program.command[0], list(program.command), dict(program.env))
        except BaseException as error:
            reason = error.strerror if isinstance(error, OSError) else repr(error)
            os.write(tell, f"{step}: {reason}".encode())
        finally:
            os._exit(127)

    def _die_with_parent(self) -> None:
        if self._prctl is not None:
            self._prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != self._parent:
            os._exit(127)


def _change_user(user: User | None) -> None:
    if user is None or (os.geteuid() != 0 and user.uid == os.geteuid()):
        return
    os.setgroups(list(user.groups))
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


def _find_prctl() -> Callable[..., int] | None:
    """The C library's prctl; None in an image whose Python has no ctypes (the engine's sweep is left then)."""
    try:
        import ctypes

        prctl: Callable[..., int] = ctypes.CDLL(None).prctl
        return prctl
    except (ImportError, OSError, AttributeError):
        return None
