"""What a training program holds: where it is in its attempt, and the few things it can say and ask.

Every method is safe to call at every step, on every rank, with or without a platform around it.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from types import TracebackType
from typing import Any, MutableMapping, Optional, Type, Union

from headway.sdk.job.cadence import Advice, Cadence
from headway.sdk.job.checkpoints import Checkpoints, Policy
from headway.sdk.job.environment import Environment, read_environment
from headway.sdk.job.events import EventLog, PrintedEvents, numbers
from headway.sdk.job.looking import be_seen
from headway.sdk.job.state import Parts
from headway.sdk.job.stop import Stop, StopWatch

PROTOCOL = "1"


class Run:
    """One rank's view of its attempt; get it with `headway.attach()`."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._phase = "startup"
        self._step = 0
        self._said_stopping = False
        self._events: Union[EventLog, PrintedEvents]
        folder = environment.rank_dir
        if folder is None:
            self._events = PrintedEvents(environment.rank, environment.world_size)
        else:
            self._events = EventLog(folder / environment.events_name)
        self._stop_watch = StopWatch(folder / "control.json" if folder is not None else None)
        advice = Advice(folder / "cadence.json" if folder is not None else None, environment.checkpoint_seconds)
        self._cadence = Cadence(environment.checkpoint_every, advice)

    @property
    def rank(self) -> int:
        """This process among all of the attempt, from 0."""
        return self._environment.rank

    @property
    def world_size(self) -> int:
        """How many processes train together."""
        return self._environment.world_size

    @property
    def job(self) -> str:
        """The job's id; "offline" without a platform."""
        return self._environment.job

    @property
    def attempt(self) -> str:
        """The attempt's id; "offline" without a platform."""
        return self._environment.attempt

    @property
    def resume_from(self) -> Optional[Path]:
        """The verified checkpoint this attempt was told to start from; None: from step 0."""
        return self._environment.resume_from

    @property
    def port(self) -> Optional[int]:
        """Where a service must listen; None for a training."""
        return self._environment.port

    @property
    def checkpoint_every(self) -> Optional[int]:
        """Every how many steps the job's policy asks for a checkpoint; None: the program decides."""
        return self._environment.checkpoint_every

    @property
    def asks_to_save(self) -> bool:
        """Whether the job has a policy that `should_save` answers by; if not, the program decides."""
        return self._cadence.asks

    def progress(self, step: int, total: Optional[int] = None, **metrics: object) -> None:
        """Say that `step` of `total` is done, with numbers such as `loss`; costs microseconds and never raises."""
        self._step = step
        self._events.write("progress", step=step, total=total, metrics=numbers(metrics))

    def phase(self, name: str) -> Phase:
        """Say what the program is doing now: startup, compile, train, evaluate or save.

        As a context manager it goes back to the phase before at the end.
        """
        previous, self._phase = self._phase, name
        self._events.write("phase", name=name)
        return Phase(self, previous)

    def should_save(self, step: int) -> bool:
        """Whether the job's policy asks for a checkpoint at this step: every so many steps, minutes, or as advised.

        Ask after every step, on every rank: all get the same answer where torch.distributed is initialised. Most
        questions cost microseconds. Without a policy it never asks.
        """
        return self._cadence.due(step)

    def should_stop(self) -> Optional[Stop]:
        """The request to save and leave, once there is one; asking every step is cheap.

        From the first call on SIGTERM is such a request too, instead of killing the process. Ranks hear of it
        at different steps: those that train together agree first, for example by reducing a flag with the loss.
        """
        stop = self._stop_watch.look()
        if stop is not None and not self._said_stopping:
            self._said_stopping = True
            self._events.write("stopping", step=self._step)
        return stop

    def checkpoints(  # noqa: PLR0913 what a user may say, by name
        self,
        model: Any = None,
        optimizer: Any = None,
        scheduler: Any = None,
        extra: Optional[MutableMapping[str, Any]] = None,
        directory: Union[str, "os.PathLike[str]", None] = None,
        keep: Optional[int] = None,
        *,
        data: Any = None,
        background: bool = False,
        algorithm: str = "crc32",
        patience_s: float = 600.0,
        local: Union[str, "os.PathLike[str]", None] = None,
        store: Optional[str] = None,
    ) -> Checkpoints:
        """The checkpoints of this training, in `directory` (default: the job's own, offline `./checkpoints`).

        `model`, `optimizer`, `scheduler` and `data` (a data loader that knows where it is) have `state_dict` and
        `load_state_dict`; `extra` holds the program's own values and is updated in place by restoring. `keep`: how many
        stay, default the job's policy, else all. `background`: saving returns once the state is copied, and a helper
        process writes the copy. `local`: where on the node that copy lies under a name, such as `/dev/shm`, so that the
        next attempt finds it even if everything here is killed. `algorithm`: of the state's hashes, `crc32` or
        `sha256`. `patience_s`: how long a save waits for the other ranks. `store`: where a process beside copies every
        finished checkpoint and from where it comes back if the directory has it no longer: `s3://bucket/prefix` (with
        boto3 in this Python), or a folder; default the variable HEADWAY_CHECKPOINT_STORE.
        """
        keep = keep if keep is not None else self._environment.checkpoint_keep
        return Checkpoints(
            self._environment,
            self._events,
            Parts(model, optimizer, scheduler, extra, data),
            Path(directory if directory is not None else self._environment.checkpoint_dir).absolute(),
            Policy(
                keep,
                background,
                algorithm,
                patience_s,
                Path(local) if local is not None else None,
                store if store is not None else self._environment.checkpoint_store,
            ),
            self.should_stop,
        )


class Phase:
    """A phase that has begun; leaving the `with` block goes back to the one before."""

    def __init__(self, run: Run, previous: str) -> None:
        self._run = run
        self._previous = previous

    def __enter__(self) -> Phase:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._run.phase(self._previous)


_attached: Optional[Run] = None


def attach() -> Run:
    """This process's run, the same at every call; without a platform it prints to stderr and works all the same."""
    global _attached
    if _attached is None:
        environment = read_environment(os.environ)
        _attached = Run(environment)
        if not environment.is_offline:
            _attached._events.write("attached", sdk=PROTOCOL, pid=os.getpid(), python=platform.python_version())
        if environment.rank_dir is not None:
            suffix = environment.events_name[len("events") : -len(".jsonl")]
            be_seen(environment.rank_dir, suffix, environment.world_size)
    return _attached
