"""Starting an attempt, idempotent through the record, Slurm's own list and `begun`.

Cut off at any point and called again it goes on where it was: what is chosen once is on disk before `sbatch` is run;
once it may have been run, Slurm is asked by the attempt's name before it is run again. Should Slurm have taken a job it
does not tell of, the second one's agents find `begun` or the lock there and start nothing.
"""

import hashlib
import os
import pwd
import re
import secrets
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from headway.domain.errors import PlatformError, say
from headway.engines.become import needs_sudo
from headway.engines.order import Site, agent_order
from headway.engines.protocol import LaunchOrder
from headway.engines.slurm.commands import Commands, said
from headway.engines.slurm.inventory import SlurmNode
from headway.engines.slurm.jobs import find
from headway.engines.slurm.look import Look
from headway.engines.slurm.place import Place, share_out
from headway.engines.slurm.record import Record, Records
from headway.engines.slurm.script import batch
from headway.engines.slurm.settings import SlurmSettings

# What sbatch says when a job can never run as asked; anything else may be better tomorrow.
NEVER = re.compile(
    r"(?i)invalid (account|qos|partition|node name|generic resource|feature|constraint|wckey|job credential)"
    r"|invalid (partition )?name specified|requested node configuration is not available|access/permission denied"
    r"|requested time limit is invalid|more processors requested than permitted|node count specification invalid"
    r"|user's group not permitted|violates accounting/qos policy|user id does not exist|memory required by task"
)
TRIES = 4


class Launching:
    """Submits attempts to one site."""

    def __init__(self, settings: SlurmSettings, commands: Commands, look: Look, records: Records, engine: str) -> None:
        self._settings, self._commands, self._look = settings, commands, look
        self._records, self._engine = records, engine
        self._shipped: tuple[int, Path] | None = None

    def launch(self, order: LaunchOrder, clock: Callable[[], datetime]) -> Record:
        """Submit unless it has been. Raises `launch-refused`, leaving nothing, or `engine-unreachable`."""
        record = self._records.read(order.attempt)
        if record is None:
            record = self._begin(order)
        if record.job is None:
            record = self.submit(record, clock)
        return record

    def submit(self, record: Record, clock: Callable[[], datetime]) -> Record:
        """Run `sbatch` for a record, unless Slurm has its job. Raises `launch-refused`, `engine-unreachable`."""
        if record.tries and (job := find(record.attempt, record.owner, self._look.jobs_now())):
            return self._records.write(replace(record, job=job.id, missed_at=None))
        tried = replace(record, tried_at=clock().timestamp(), tries=record.tries + 1, missed_at=None)
        record = self._records.write(tried)
        answer = self._commands.submit(record.words, record.script, record.user)
        if answer.code == 0:
            return self._records.write(replace(record, job=answer.out.strip().partition(";")[0]))
        if not NEVER.search(answer.error):
            raise self._commands.unreachable(f"sbatch: {said(answer)}")
        if record.tries == 1:
            self._forget(record)
        raise self._refusal(record.attempt, said(answer))

    def _begin(self, order: LaunchOrder) -> Record:
        """Choose what is chosen once, and put everything the agents need on the share."""
        nodes = self._check(order)
        limit = self._settings.time_limit or self._look.time_limit()
        agent = self._ship()
        asked = batch(order, nodes, self._settings, limit, agent)
        master_port, port = self._ports(order)
        try:
            share_out(self._settings.share, order.attempt, [part.node for part in order.nodes], order.user)
        except PlatformError as error:
            raise self._refusal(order.attempt, str(error)) from error
        for index, (part, node) in enumerate(zip(order.nodes, nodes, strict=True)):
            site = Site(
                maker=node.maker,
                # Slurm chooses which; where it constrains devices, as it should, they are numbered from 0 on the node.
                cards=tuple(range(len(part.devices))),
                master_addr=nodes[0].address,
                master_port=master_port,
                port=port,
                ca_file=self._settings.ca_file,
                readings=self._settings.readings,
                report=self._settings.report,
            )
            told = replace(order, server_url=self._settings.server_url or order.server_url)
            place = Place(self._settings.share, order.attempt, part.node)
            place.prepare(agent_order(told, index, site), order.token, order.user)
        return Record(
            attempt=order.attempt,
            nodes=tuple(part.node for part in order.nodes),
            hosts=tuple(node.host for node in nodes),
            user=order.user,
            owner=order.user.name if order.user else _own_name(),
            master_port=master_port,
            endpoint=f"{nodes[0].address}:{port}" if port else None,
            words=asked.words,
            script=asked.script,
            limit_s=None if limit is None else limit.total_seconds(),
        )

    def _check(self, order: LaunchOrder) -> Sequence[SlurmNode]:
        known = self._look.nodes()
        detail = _fault(order, known, self._settings.become)
        if detail:
            raise self._refusal(order.attempt, detail)
        return [known[part.node] for part in order.nodes]

    def _ports(self, order: LaunchOrder) -> tuple[int, int | None]:
        """Two ports by the attempt's id: nobody can look at the node before the job is there."""
        among = self._settings.ports
        start = zlib.crc32(order.attempt.encode()) % (len(among) // 2) * 2
        return among[start], among[start + 1] if order.wants_port else None

    def _ship(self) -> Path:
        """The agent on the share, under a name of its own for each version: a running one reads its zipapp again."""
        known = self._settings.agent.stat()
        if self._shipped is not None and self._shipped[0] == known.st_mtime_ns and self._shipped[1].exists():
            return self._shipped[1]
        content = self._settings.agent.read_bytes()
        target = self._settings.share / f"headway-agent-{hashlib.sha256(content).hexdigest()[:12]}.pyz"
        self._shipped = (known.st_mtime_ns, target)
        if not target.exists():
            # Attempts are launched abreast: each thread has a draft of its own.
            draft = target.with_suffix(f".{secrets.token_hex(4)}.new")
            draft.write_bytes(content)
            draft.chmod(0o755)
            os.replace(draft, target)
        return target

    def _forget(self, record: Record) -> None:
        """Nothing was started and nothing ever will be: leave no trace."""
        self._records.drop(record.attempt)
        shutil.rmtree(self._settings.share / record.attempt, ignore_errors=True)

    def _refusal(self, attempt: str, detail: str) -> PlatformError:
        return PlatformError("launch-refused", engine=self._engine, attempt=attempt, detail=detail)


def _fault(order: LaunchOrder, nodes: dict[str, SlurmNode], become: bool) -> str | None:
    """Why this site can never run the order."""
    if not order.nodes or not all(part.ranks for part in order.nodes):
        return say("no-ranks")
    for part in order.nodes:
        node = nodes.get(part.node)
        if node is None:
            return say("no-such-node-of", node=part.node, nodes=", ".join(nodes))
        if any(not 0 <= device < node.devices for device in part.devices):
            return say("devices-asked", node=part.node, last=node.devices - 1, asked=str(list(part.devices)))
    if len({len(part.devices) for part in order.nodes}) > 1:
        return say("devices-alike")
    if needs_sudo(order.user) and order.user and not become:
        return say("only-root-submits", user=order.user.name)
    return None


def _own_name() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name
