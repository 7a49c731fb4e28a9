"""The environment contract and the torchrun command, as values."""

from __future__ import annotations

from headway.agent.order import Order
from headway.agent.ranks.environment import rank_environment, torchrun_command, torchrun_environment
from tests.agent.test_order import GOOD


def test_each_rank_sees_all_devices_of_its_node_as_under_torchrun() -> None:
    order = Order(
        {
            **GOOD,
            "devices": [4, 5, 6, 7],
            "visible_devices": {"CUDA_VISIBLE_DEVICES": "GPU-a,GPU-b,GPU-c,GPU-d"},
            "ranks": [{"rank": 8, "local_rank": 0, "devices": [4, 5]}, {"rank": 9, "local_rank": 1, "devices": [7]}],
        }
    )
    seen = [rank_environment(order, rank, "/r", "/p", {})["CUDA_VISIBLE_DEVICES"] for rank in order.ranks]
    assert seen == ["GPU-a,GPU-b,GPU-c,GPU-d"] * 2


def test_the_agents_own_settings_never_reach_a_rank() -> None:
    order = Order(GOOD)
    base = {"HEADWAY_DATABASE_URL": "secret", "HEADWAY_PORT": "1", "PATH": "/bin"}
    env = rank_environment(order, order.ranks[0], "/r", "/p", base)
    assert "HEADWAY_DATABASE_URL" not in env
    assert "HEADWAY_PORT" not in env
    assert env["PATH"] == "/bin"


def test_the_contract_wins_over_the_jobs_own_variables() -> None:
    order = Order({**GOOD, "env": {"RANK": "7", "HEADWAY_ATTEMPT": "forged", "HEADWAY_RESUME_FROM": "/old"}})
    env = rank_environment(order, order.ranks[0], "/r", "/p", {})
    assert env["RANK"] == "0"
    assert env["HEADWAY_ATTEMPT"] == "j-7f3k2m9q.1"
    assert "HEADWAY_RESUME_FROM" not in env


def test_the_user_of_the_order_is_at_home() -> None:
    order = Order({**GOOD, "user": {"uid": 1000, "gid": 1000, "name": "ann", "home": "/home/ann"}})
    env = rank_environment(order, order.ranks[0], "/r", "/p", {"HOME": "/root", "USER": "root"})
    assert (env["HOME"], env["USER"], env["LOGNAME"]) == ("/home/ann", "ann", "ann")


def test_torchrun_gets_the_whole_node_and_no_ranks() -> None:
    order = Order(
        {
            **GOOD,
            "launcher": "torchrun",
            "node_rank": 1,
            "node_count": 2,
            "ranks": [{"rank": 2, "local_rank": 0}, {"rank": 3, "local_rank": 1}],
            "devices": [0, 1],
            "visible_devices": {"CUDA_VISIBLE_DEVICES": "0,1"},
        }
    )
    env = torchrun_environment(order, "/r", "/p", {})
    assert env["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert env["TORCHELASTIC_ERROR_FILE"] == "/r/error.json"
    assert "RANK" not in env
    command = torchrun_command(order, "/r")
    assert command[:3] == ["python3", "-m", "torch.distributed.run"]
    assert command[-3:] == ["--no-python", "python3", "train.py"]
    options = dict(zip(command[3:-3:2], command[4:-3:2], strict=True))
    assert (options["--nnodes"], options["--node-rank"], options["--nproc-per-node"]) == ("2", "1", "2")
    assert (options["--rdzv-backend"], options["--max-restarts"]) == ("static", "0")
    assert options["--rdzv-endpoint"] == "127.0.0.1:29400"
