"""Keeping a node from new jobs of anybody: drained where Slurm lets us, else reserved for maintenance, else left out.

Only Admin level may drain (Operator may not); Operator may make reservations. A node somebody else has drained is never
taken back into service here.
"""

import re

from headway.engines.protocol import CordonKind
from headway.engines.slurm.commands import Answer, Commands, said

MARK = "headway: "
DENIED = re.compile(r"(?i)access/permission denied|invalid user id|not permitted|permission denied")


class Cordoning:
    """Closes and opens nodes of one site."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def cordon(self, host: str, reason: str) -> CordonKind:
        """Close a node. Raises `engine-unreachable`."""
        told = f"reason={MARK}{' '.join(reason.split())[:200]}"
        if self._try("scontrol", "update", f"nodename={host}", "state=drain", told):
            return CordonKind.DRAINED
        words = (f"reservationname={_name(host)}", f"nodes={host}", "starttime=now", "duration=UNLIMITED", "user=root")
        if self._try("scontrol", "create", "reservation", *words, "flags=maint,ignore_jobs"):
            return CordonKind.RESERVED
        return CordonKind.EXCLUDED

    def uncordon(self, host: str, reason: str | None) -> None:
        """Open a node that this engine closed; `reason`: why it is closed now. Raises `engine-unreachable`."""
        if reason is not None and reason.startswith(MARK):
            self._try("scontrol", "update", f"nodename={host}", "state=resume")
        self._commands.run("scontrol", "delete", f"reservationname={_name(host)}")

    def _try(self, *argv: str) -> bool:
        """Whether it was done; False where we may not."""
        answer: Answer = self._commands.run(*argv)
        if answer.code == 0:
            return True
        if DENIED.search(answer.error) or "already" in answer.error.lower():
            return "already" in answer.error.lower()
        raise self._commands.unreachable(f"scontrol: {said(answer)}")


def _name(host: str) -> str:
    return f"headway-{host}"
