"""What Slurm is asked for one attempt: the words of `sbatch` and the batch script. Pure.

The script starts one agent on each node and starts it again when it dies, so that its last words are delivered; ranks
start once whatever happens (`begun`, see `docs/protocol.md` §1). Ranks are never signalled here: SIGURG, which programs
ignore unless they ask for it, reaches the whole step, and only the loop around the agent passes it on as SIGTERM.
"""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from headway.domain.resources import Maker
from headway.engines.protocol import LaunchOrder
from headway.engines.slurm.inventory import SlurmNode
from headway.engines.slurm.settings import SlurmSettings

MARK = "headway:"
# Slurm's variable for NVIDIA is right as it is: relative where the site constrains devices, absolute where not.
ASCEND = """unset CUDA_VISIBLE_DEVICES
[ -n "${ASCEND_RT_VISIBLE_DEVICES:-}" ] || ASCEND_RT_VISIBLE_DEVICES=${SLURM_STEP_GPUS:-${SLURM_JOB_GPUS:-}}
[ -z "$ASCEND_RT_VISIBLE_DEVICES" ] || export ASCEND_RT_VISIBLE_DEVICES
"""
# An agent that ends with 0 has delivered everything, with 2 could not read its order, with 3 leaves what it knows on
# the share because no server answers; 126 and 127: it never started. Its variables are given to it alone: an agent that
# cleans up kills whoever has the first two. Which cards Slurm has chosen it gives in the node's own numbers, whatever
# numbers the site lets programs see.
LOOP = """\
dir={base}/$SLURMD_NODENAME
[ -d "$dir" ] || dir=$dir-{device_type}
exec </dev/null >>"$dir/agent.out" 2>&1 || exit 1
{visible}trap 'kill -TERM "$agent" 2>/dev/null' TERM URG
{keep}tries=0
while :; do
    env HEADWAY_ATTEMPT={attempt} HEADWAY_NODE="${{dir##*/}}" \\
        HEADWAY_CARDS="${{SLURM_STEP_GPUS:-}}" HEADWAY_VISIBLE="${{CUDA_VISIBLE_DEVICES:-}}" \\
        HEADWAY_TAKEN_AT="$HEADWAY_TAKEN_AT" HEADWAY_LEAVE_S=1 \\
        {python} "${{agent_file:-$HEADWAY_AGENT}}" run "$dir" &
    agent=$!
    wait "$agent"; code=$?
    while kill -0 "$agent" 2>/dev/null; do wait "$agent"; code=$?; done
    case $code in 0|2|3) exit 0;; 126|127) exit "$code";; esac
    tries=$((tries + 1))
    [ "$tries" -lt 10 ] || exit 1
    sleep "$tries" & wait $!
done
"""
# The trap keeps the shell alive until srun, which gets the signal too, has seen every agent end.
SCRIPT = """\
#!/bin/sh
export HEADWAY_AGENT={agent} HEADWAY_TAKEN_AT=${{SLURM_JOB_START_TIME:-$(date +%s)}}
{ship}trap : TERM
srun --nodes={count} --ntasks={count} --ntasks-per-node=1 --cpus-per-task={cpus} --kill-on-bad-exit=0 --wait=0 \\
    --input=none --job-name=agents /bin/sh -c {loop}
"""
SHIP = """HEADWAY_AGENT=/tmp/headway-agent.$SLURM_JOB_ID.pyz
sbcast --force {source} "$HEADWAY_AGENT" || exit 1
"""


# Each node keeps a copy of its own: some sites, and every virtual one, share /tmp between nodes.
KEEP = """\
agent_file=$HEADWAY_AGENT.$SLURMD_NODENAME
trap 'rm -f "$HEADWAY_AGENT" "$agent_file"' EXIT
cp "$HEADWAY_AGENT" "$agent_file" || exit 1
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """One submission: the words after `sbatch`, and the script it reads."""

    words: tuple[str, ...]
    script: str


def batch(
    order: LaunchOrder, nodes: Sequence[SlurmNode], settings: SlurmSettings, limit: timedelta | None, agent: Path
) -> Batch:
    """The submission of an attempt on these nodes. `limit` None: no time limit; `agent`: the zipapp on the share."""
    base = settings.share / order.attempt
    cpus, memory = _share_of_node(order, nodes, settings)
    words = [
        "--parsable",
        f"--job-name={order.attempt}",
        f"--comment={MARK}{order.attempt}",
        "--no-requeue",
        f"--nodes={len(nodes)}",
        f"--nodelist={','.join(node.host for node in nodes)}",
        "--ntasks-per-node=1",
        _gres(order, nodes[0]),
        f"--cpus-per-task={cpus}",
        f"--mem={memory}M",
        f"--time={'UNLIMITED' if limit is None else math.ceil(limit / timedelta(minutes=1))}",
        "--propagate=NONE",
        "--open-mode=append",
        "--input=/dev/null",
        f"--chdir={base}",
        f"--output={base}/{order.nodes[0].node}/slurm.out",
    ]
    if limit is not None:
        words.append(f"--signal=URG@{_notice_s(limit, settings)}")
    project = order.project or ""
    account, qos = settings.accounts.get(project, settings.account), settings.qoses.get(project, settings.qos)
    chosen = {"partition": settings.partition, "account": account, "qos": qos}
    words += [f"--{name}={value}" for name, value in chosen.items() if value]
    return Batch(tuple(words), _script(order, nodes[0], settings, agent, cpus))


def _script(order: LaunchOrder, node: SlurmNode, settings: SlurmSettings, agent: Path, cpus: int) -> str:
    loop = LOOP.format(
        base=settings.share / order.attempt,
        device_type=node.device_type,
        visible=ASCEND if node.maker is Maker.ASCEND else "",
        keep=KEEP if settings.sbcast else "",
        attempt=order.attempt,
        python=shlex.quote(settings.python),
    )
    ship = SHIP.format(source=agent) if settings.sbcast else ""
    return SCRIPT.format(agent=agent, ship=ship, count=len(order.nodes), cpus=cpus, loop=shlex.quote(loop))


def _gres(order: LaunchOrder, node: SlurmNode) -> str:
    count = len(order.nodes[0].devices)
    wanted = f"{node.device_type}:{count}" if node.typed else str(count)
    return f"--gpus-per-node={wanted}" if node.gres == "gpu" else f"--gres={node.gres}:{wanted}"


def _share_of_node(order: LaunchOrder, nodes: Sequence[SlurmNode], settings: SlurmSettings) -> tuple[int, int]:
    """CPUs and MiB for each node: by the site's word, else the smallest node's even share for the devices asked for."""
    count = len(order.nodes[0].devices)
    cpus = min(node.cpus * count // node.host_devices for node in nodes)
    memory = min(node.memory * count // node.host_devices for node in nodes)
    if settings.cpus_per_device:
        cpus = settings.cpus_per_device * count
    if settings.memory_per_device:
        memory = settings.memory_per_device * count
    return max(1, cpus), max(1, memory)


def _notice_s(limit: timedelta, settings: SlurmSettings) -> int:
    """Slurm takes at most 65535 seconds; a notice longer than half the limit would be no work at all."""
    return int(min(settings.notice, limit / 2, timedelta(seconds=65535)).total_seconds())
