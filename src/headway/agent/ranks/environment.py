"""The environment contract: what a rank, or torchrun, finds in its environment. Pure.

The agent's own `HEADWAY_*` variables never reach a rank; the contract's variables win over the job's own. A rank sees
all of its attempt's devices on the node, as under torchrun: programs choose theirs by LOCAL_RANK.
"""

from __future__ import annotations

FLIGHT_RECORDER = "2000"
"""So many of a rank's newest collectives torch remembers; the job's own wish wins."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from headway.agent.order import Order, Rank


def rank_environment(order: Order, rank: Rank, rank_dir: str, package: str, base: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of one rank started by the agent. `package`: where `import headway` is found."""
    contract = {
        "RANK": str(rank.rank),
        "LOCAL_RANK": str(rank.local_rank),
        "WORLD_SIZE": str(order.world_size),
        "LOCAL_WORLD_SIZE": str(len(order.ranks)),
        "NODE_RANK": str(order.node_rank),
        "GROUP_RANK": str(order.node_rank),
        "MASTER_ADDR": order.master_addr,
        "MASTER_PORT": str(order.master_port),
    }
    return {**_shared(order, rank_dir, package, base), **order.visible_devices, **contract}


def torchrun_environment(order: Order, rank_dir: str, package: str, base: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a node's torchrun, which gives each of its ranks RANK and its kin itself."""
    error_file = {"TORCHELASTIC_ERROR_FILE": f"{rank_dir}/error.json"}
    return {**_shared(order, rank_dir, package, base), **order.visible_devices, **error_file}


def torchrun_command(order: Order, rank_dir: str) -> list[str]:
    """The command that starts this node's torchrun around the job's command."""
    program = order.command[0]
    name = program.rpartition("/")[2]
    start = [program, "-m", "torch.distributed.run"] if name.startswith("python") else ["torchrun"]
    options = {
        "--nnodes": order.node_count,
        "--node-rank": order.node_rank,
        "--nproc-per-node": len(order.ranks),
        "--rdzv-backend": "static",
        "--rdzv-endpoint": f"{order.master_addr}:{order.master_port}",
        "--rdzv-id": order.attempt,
        "--master-addr": order.master_addr,
        "--master-port": order.master_port,
        "--max-restarts": 0,
        "--log-dir": f"{rank_dir}/torchrun",
    }
    for option, value in options.items():
        start += [option, str(value)]
    return [*start, "--no-python", *order.command]


def _shared(order: Order, rank_dir: str, package: str, base: Mapping[str, str]) -> dict[str, str]:
    env = {key: value for key, value in base.items() if not key.startswith("HEADWAY_")}
    if order.user is not None:
        env.update(HOME=order.user.home, USER=order.user.name, LOGNAME=order.user.name)
    env.update(order.env)
    beyond = env.get("PYTHONPATH")
    env["PYTHONPATH"] = f"{package}:{beyond}" if beyond else package
    env["PYTHONUNBUFFERED"] = "1"
    env.setdefault("TORCH_FR_BUFFER_SIZE", FLIGHT_RECORDER)
    optional = {
        "HEADWAY_CHECKPOINT_DIR": order.checkpoint_dir,
        "HEADWAY_RESUME_FROM": order.resume_from,
        "HEADWAY_PORT": None if order.port is None else str(order.port),
    }
    for key, value in optional.items():
        env.pop(key, None)
        if value is not None:
            env[key] = value
    env.update(
        HEADWAY_JOB=order.job,
        HEADWAY_ATTEMPT=order.attempt,
        HEADWAY_ATTEMPT_NUMBER=str(order.number),
        HEADWAY_NODE=order.node,
        HEADWAY_RANK_DIR=rank_dir,
    )
    return env
