"""The trade of checkpoint intervals over HTTP, and which policies are refused."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.domain.checkpoint import Checkpoint
from headway.server.platform import Platform
from headway.store import checkpoints
from tests.server.conftest import People, Placed
from tests.server.test_bad_input import GOOD

Headers = dict[str, str]


def test_the_trade_of_a_job_says_what_it_is_made_of(http: TestClient, admin: Headers, placed: Placed) -> None:
    told = http.get(f"jobs/{placed.job}/cadence", headers=admin).json()
    assert (told["mode"], told["saves"], told["nodes"]) == ("program", 0, 1)
    assert told["rate"] == pytest.approx(6.5, rel=0.01)
    assert told["rate_low"] < told["rate"] < told["rate_high"]
    (advised,) = [choice for choice in told["trade"] if choice["advised"]]
    assert advised["interval_s"] == told["advised_s"]
    assert advised["share"] == pytest.approx(advised["save_share"] + advised["lost_share"])
    assert [c["interval_s"] for c in told["trade"]] == sorted(c["interval_s"] for c in told["trade"])


def test_before_a_job_is_there_its_trade_can_be_asked_for(http: TestClient, admin: Headers) -> None:
    def asked(**query: Any) -> Any:
        return http.get("cadence", params=query, headers=admin).json()

    assert asked(nodes=64)["advised_s"] < asked(nodes=4)["advised_s"]
    assert asked(nodes=64, blocking_s=0.1)["advised_s"] < asked(nodes=64)["advised_s"]
    assert asked(nodes=0)["code"] == "invalid-field"


def test_storages_stand_beside_each_other_with_what_a_state_of_this_size_takes(
    http: TestClient, admin: Headers, platform: Platform, placed: Placed
) -> None:
    now = platform.clock.now()
    with platform.database.write() as c:
        for step, storage, size, seconds in ((1, "lustre", 4000, 2.0), (2, "nfs4", 1000, 10.0)):
            row = Checkpoint(placed.job, placed.attempt, step, f"/c/step-{step}", size, seconds, now, storage=storage)
            checkpoints.record(c, row)
        checkpoints.set_restored(c, placed.job, "/c/step-1", 1.0)
    told = http.get(f"jobs/{placed.job}/cadence", headers=admin).json()["storages"]
    assert [(each["storage"], each["kind"], each["in_use"]) for each in told] == [
        ("lustre", "parallel", False),
        ("nfs4", "network", True),
    ]
    assert [(each["write_s"], each["restore_s"]) for each in told] == [(0.5, 0.25), (10.0, None)]
    assert [each["write_s"] for each in http.get("cadence?nodes=4", headers=admin).json()["storages"]] == [None, None]


def test_another_projects_member_sees_no_trade(http: TestClient, people: People, placed: Placed) -> None:
    vic = {"Authorization": f"Bearer {people.token('vic')}"}
    answer = http.get(f"jobs/{placed.job}/cadence", headers=vic)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("policy", "field", "value"),
    [
        ({"every_steps": 0}, "checkpoint.every_steps", "0"),
        ({"every_minutes": "soon"}, "checkpoint.every_minutes", "soon"),
        ({"every_minutes": 0}, "checkpoint.every_minutes", "0"),
        ({"advised": "yes"}, "checkpoint.advised", "yes"),
        ({"every_steps": 10, "advised": True}, "checkpoint", "advised, every_steps"),
        ({"shortest_minutes": 30, "longest_minutes": 10}, "checkpoint.shortest_minutes", "30"),
        ({"keep": 0}, "checkpoint.keep", "0"),
        ({"keep_best": -1}, "checkpoint.keep_best", "-1"),
        ({"resume": ["--load", "{checkpiont}"]}, "checkpoint.resume", "{checkpiont}"),
        ({"resume": "--load"}, "checkpoint.resume", "--load"),
        ({"often": True}, "checkpoint.often", "True"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(
    http: TestClient, admin: Headers, policy: dict[str, Any], field: str, value: str
) -> None:
    answer = http.post("jobs", json=GOOD | {"checkpoint": policy}, headers=admin).json()
    assert (answer["params"]["field"], answer["params"]["value"]) == (field, value)
    assert http.get("jobs", headers=admin).json()["items"] == []


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ({"every_steps": 7}, {"every_steps": 7, "every": None, "advised": False}),
        ({"every_minutes": 15}, {"every_steps": None, "every": "PT15M", "advised": False}),
        ({"advised": True}, {"every_steps": None, "every": None, "advised": True}),
        ({"keep_every_steps": 100, "keep_best": 2}, {"keep_every_steps": 100, "keep_best": 2, "keep": 5}),
    ],
)
def test_a_policy_is_kept_with_the_job(
    http: TestClient, admin: Headers, policy: dict[str, Any], wanted: dict[str, Any]
) -> None:
    job = http.post("jobs", json=GOOD | {"checkpoint": policy}, headers=admin).json()
    kept = http.get(f"jobs/{job['id']}", headers=admin).json()["job"]["spec"]["checkpoint"]
    assert {name: kept[name] for name in wanted} == wanted
