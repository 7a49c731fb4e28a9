"""Slurm's own commands, each with a time limit, none with the server's environment. Parses nothing, decides nothing.

What did not answer is `engine-unreachable`. The plain formats are used: `--json` of 22.05 reports wrong exit codes.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headway.domain.errors import PlatformError
from headway.engines.become import KILL_AFTER_S, acting_as
from headway.engines.protocol import UnixUser
from headway.engines.slurm.books import BOOKS_FORMAT
from headway.engines.slurm.settings import SlurmSettings

# Name and comment come last: they may hold anything.
ABOUT = ("JobID", "State", "DerivedEC", "ReasonList", "UserName", "Account")
JOB_FIELDS = (*ABOUT, "NodeList", "StartTime", "EndTime", "tres-alloc")
JOB_FORMAT = ",".join(f"{name}:|" for name in (*JOB_FIELDS, "Name", "Comment"))
PAST_FORMAT = "jobidraw,state,derivedexitcode,user,nodelist,start,end,jobname,comment"
DETAIL = 300
# How much longer a command that ends itself in time may take than one that we end.
MORE_S = 2 * KILL_AFTER_S


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended."""

    code: int
    out: str
    error: str


class Commands:
    """The commands of one site."""

    def __init__(self, settings: SlurmSettings, engine: str) -> None:
        self._settings, self._engine = settings, engine

    def jobs(self) -> str:
        """Every job slurmctld still knows, ended ones of the last `MinJobAge` too; `JOB_FORMAT`."""
        return self.ask("squeue", "--noheader", "--all", "--states=all", f"--Format={JOB_FORMAT}")

    def past_jobs(self, names: Iterable[str], since: datetime) -> str:
        """What accounting knows of jobs by these names, every incarnation; `PAST_FORMAT`."""
        start = since.astimezone().strftime("%Y-%m-%dT%H:%M:%S")
        words = ("--duplicates", "--allocations", "--allusers", "--noheader", "--parsable2")
        return self.ask("sacct", *words, f"--name={','.join(names)}", f"--starttime={start}", f"--format={PAST_FORMAT}")

    def books(self, since: datetime) -> str:
        """What accounting counts of every job since then, whoever's; `BOOKS_FORMAT`."""
        start = since.astimezone().strftime("%Y-%m-%dT%H:%M:%S")
        words = ("--duplicates", "--allocations", "--allusers", "--noheader", "--parsable2")
        return self.ask("sacct", *words, f"--starttime={start}", f"--format={BOOKS_FORMAT}")

    def nodes(self) -> str:
        """`scontrol show node`, one line a node."""
        return self.ask("scontrol", "show", "node", "--oneliner")

    def partitions(self) -> str:
        """`scontrol show partition`, one line a partition."""
        return self.ask("scontrol", "show", "partition", "--oneliner")

    def switches(self) -> str:
        """`scontrol show topology`; nothing where the site has none."""
        return self.run("scontrol", "show", "topology").out

    def submit(self, words: Sequence[str], script: str, user: UnixUser | None) -> Answer:
        """`sbatch` with the script on its standard input, as the user."""
        return self.run("sbatch", *words, stdin=script, user=user)

    def cancel(self, attempt: str, owner: str, user: UnixUser | None, signal: str | None = None) -> None:
        """Cancel, or signal the tasks of, every job of this name and owner, as the user. None there: no error."""
        words = (f"--signal={signal}",) if signal else ()
        self.run("scancel", "--quiet", *words, f"--jobname={attempt}", f"--user={owner}", user=user)

    def ask(self, *argv: str) -> str:
        """A command's output. Raises `engine-unreachable` when it fails."""
        answer = self.run(*argv)
        if answer.code:
            raise self.unreachable(f"{argv[0]}: {said(answer)}")
        return answer.out

    def run(self, *argv: str, stdin: str = "", user: UnixUser | None = None) -> Answer:
        """Run one command as the user, or as this process. Raises `engine-unreachable` on a time-out."""
        acting = acting_as(user, argv, self._environment(user), self._settings.timeout.total_seconds())
        try:
            done = subprocess.run(
                acting.argv,
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                env=acting.env,
                cwd="/",
                timeout=self._settings.timeout.total_seconds() + MORE_S,
                check=False,
                **acting.account,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self.unreachable(str(error)) from error
        return Answer(done.returncode, done.stdout, done.stderr)

    def unreachable(self, detail: str) -> PlatformError:
        """The error that says so."""
        return PlatformError("engine-unreachable", engine=self._engine, detail=detail)

    def _environment(self, user: UnixUser | None) -> Mapping[str, str]:
        """What jobs start with is what `sbatch` has: the site's search path and who the user is, nothing of ours."""
        own = {"PATH": self._settings.path, "LANG": os.environ.get("LANG", "C.UTF-8"), "SLURM_TIME_FORMAT": "%s"}
        conf = self._settings.slurm_conf or os.environ.get("SLURM_CONF")
        who = (
            {"HOME": user.home, "USER": user.name, "LOGNAME": user.name} if user else {"HOME": os.path.expanduser("~")}
        )
        return own | who | ({"SLURM_CONF": conf} if conf else {})


def said(answer: Answer) -> str:
    """The command's own words on one line, without its name."""
    text = re.sub(r"^\w+: (error: )?", "", (answer.error or answer.out).strip(), flags=re.MULTILINE)
    return " ".join(text.split())[:DETAIL] or f"exit {answer.code}"
