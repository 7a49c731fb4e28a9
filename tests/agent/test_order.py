"""What an order may hold, and what is said of one that may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.agent.order import Order, OrderError, read_order

GOOD: dict[str, Any] = {
    "attempt": "j-7f3k2m9q.1",
    "job": "j-7f3k2m9q",
    "number": 1,
    "node": "n1",
    "server": "http://127.0.0.1:8470",
    "command": ["python3", "train.py"],
    "ranks": [{"rank": 0, "local_rank": 0, "devices": [0]}],
    "world_size": 1,
}


def test_an_order_is_read_with_defaults_and_unknown_keys_are_ignored() -> None:
    order = Order({**GOOD, "from_the_future": 1, "cgroup": "/sys/fs/cgroup/a"})
    assert order.grace_s == 30.0
    assert order.cgroup == ("/sys/fs/cgroup/a",)
    assert order.ranks[0].devices == (0,)
    assert order.user is None


def test_an_order_is_frozen() -> None:
    order = Order(GOOD)
    with pytest.raises(AttributeError, match="frozen"):
        order.node = "n2"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attempt": None}, "attempt is None: expected str"),
        ({"command": []}, "command is []: expected a program"),
        ({"command": "python3 train.py"}, "command is 'python3 train.py': expected list"),
        ({"ranks": []}, "ranks is []: expected at least one rank"),
        ({"ranks": [{"rank": 0}]}, "local_rank is missing"),
        ({"world_size": True}, "world_size is True: expected int"),
        ({"launcher": "mpirun"}, "launcher is 'mpirun': expected 'ranks' or 'torchrun'"),
        ({"server": "ftp://x"}, "server is 'ftp://x'"),
        ({"node": "../n1"}, "node is '../n1'"),
        ({"report_s": 0}, "report_s is 0: expected more than 0 seconds"),
        ({"user": {"uid": "ann", "gid": 1}}, "uid is 'ann': expected int"),
        ({"log_limits": {"max_bytes": -1}}, "log_limits.max_bytes is -1: expected more than 0"),
    ],
)
def test_a_bad_order_names_the_key_and_the_value(change: dict[str, Any], said: str) -> None:
    with pytest.raises(OrderError) as caught:
        Order({**GOOD, **change})
    assert said in str(caught.value)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(OrderError, match="server is missing"):
        Order({key: value for key, value in GOOD.items() if key != "server"})


def test_an_order_that_is_not_there_or_no_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(OrderError, match=r"order\.json is not there"):
        read_order(str(tmp_path))
    (tmp_path / "order.json").write_text("{")
    with pytest.raises(OrderError, match=r"order\.json cannot be read"):
        read_order(str(tmp_path))
    (tmp_path / "order.json").write_text(json.dumps([]))
    with pytest.raises(OrderError, match="holds a list: expected an object"):
        read_order(str(tmp_path))
