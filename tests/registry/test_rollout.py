"""Splits follow one another by rule, and the routes are what they say."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.service import Replica, ReplicaState, Service, Share, Split
from headway.gateway.routes import parse
from headway.registry.rollout import Change, rollback, shift
from headway.registry.routes import routes, spread

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)
VERSIONS = ["v1", "v2", "v3"]


def a_change(minutes=0):
    return Change(NOON + timedelta(minutes=minutes), "ann", "canary")


def a_history(*all_shares):
    """Splits one minute apart; `"back"` rolls back."""
    history = []
    for minute, shares in enumerate(all_shares):
        change = a_change(minute)
        if shares == "back":
            history.append(rollback(history, VERSIONS, change))
        else:
            history.append(shift(history[-1] if history else None, shares, VERSIONS, "llm/chat", change))
    return history


def weights(split):
    return {share.version: share.weight for share in split.shares}


def test_a_shift_is_numbered_and_says_who_and_why():
    first = shift(None, {"v1": 100}, ["v1"], "llm/chat", a_change())
    assert first == Split("llm/chat", 1, (Share("v1", 100),), NOON, "ann", "canary")
    assert shift(first, {"v1": 90, "v2": 10}, ["v1", "v2"], "llm/chat", a_change()).number == 2


@pytest.mark.parametrize(
    ("shares", "field"),
    [
        ({}, "shares"),
        ({"v1": 90}, "shares"),
        ({"v1": 110, "v2": -10}, "shares.v2"),
        ({"v1": 99.5, "v2": 0.5}, "shares.v1"),
        ({"v1": True, "v2": 99}, "shares.v1"),
        ({"v1": 100, "v9": 0}, "shares"),
    ],
)
def test_a_bad_split_is_refused_naming_the_field(shares, field):
    with pytest.raises(PlatformError) as refused:
        shift(None, shares, ["v1", "v2"], "llm/chat", a_change())
    assert (refused.value.code, refused.value.params["field"]) == ("bad-split", field)


def test_a_version_without_a_ready_replica_takes_no_requests():
    current = shift(None, {"v1": 90, "v2": 10}, ["v1", "v2"], "llm/chat", a_change())
    with pytest.raises(PlatformError) as refused:
        shift(current, {"v1": 50, "v2": 50}, ["v1"], "llm/chat", a_change())
    assert (refused.value.code, refused.value.params["version"]) == ("version-not-ready", "v2")
    assert weights(shift(current, {"v1": 100, "v2": 0}, ["v1"], "llm/chat", a_change())) == {"v1": 100, "v2": 0}


def test_a_rollback_goes_to_the_split_before_and_says_what_it_undoes():
    history = a_history({"v1": 90, "v2": 10}, {"v1": 0, "v2": 100}, "back")
    assert (weights(history[-1]), history[-1].number, history[-1].rollback_of) == ({"v1": 90, "v2": 10}, 3, 2)


def test_rolling_back_twice_goes_back_two_splits_and_never_to_what_was_undone():
    history = a_history({"v1": 100}, {"v1": 90, "v2": 10}, {"v2": 100}, "back", "back")
    assert weights(history[-1]) == {"v1": 100}
    with pytest.raises(PlatformError, match="nothing-to-roll-back"):
        rollback(history, VERSIONS, a_change())


def test_setting_the_same_shares_again_is_nothing_to_roll_back():
    with pytest.raises(PlatformError, match="nothing-to-roll-back"):
        rollback(a_history({"v1": 100}, {"v1": 100, "v2": 0}), VERSIONS, a_change())


@pytest.mark.parametrize("history", [[], a_history({"v1": 100})])
def test_without_an_earlier_split_there_is_nothing_to_roll_back(history):
    with pytest.raises(PlatformError, match="nothing-to-roll-back"):
        rollback(history, VERSIONS, a_change())


def test_a_rollback_to_a_version_that_is_gone_is_refused():
    with pytest.raises(PlatformError, match="version-not-ready"):
        rollback(a_history({"v1": 100}, {"v2": 100}), ["v2"], a_change())


some_shares = st.integers(0, 100).map(lambda one: {"v1": one, "v2": 100 - one})


@given(st.lists(st.one_of(some_shares, st.just("back")), max_size=12))
def test_each_split_is_whole_and_undoing_works_like_a_stack(steps):
    history, stack = [], []
    for minute, step in enumerate(steps):
        if step != "back":
            history.append(shift(history[-1] if history else None, step, VERSIONS, "llm/chat", a_change(minute)))
            now = {version: weight for version, weight in step.items() if weight}
            stack += [now] if not stack or stack[-1] != now else []
        elif len(stack) > 1:
            stack.pop()
            history.append(rollback(history, VERSIONS, a_change(minute)))
        else:
            with pytest.raises(PlatformError, match="nothing-to-roll-back"):
                rollback(history, VERSIONS, a_change(minute))
        if history:
            live = {version: weight for version, weight in weights(history[-1]).items() if weight}
            assert (live, sum(live.values())) == (stack[-1], 100)
    assert [split.number for split in history] == list(range(1, len(history) + 1))


def a_service(split, name="chat", **more):
    return Service(name, "llm", NOON, "ann", split=split, **more)


def a_replica(version, port=1, *, state=ReplicaState.READY, service="llm/chat"):
    return Replica(service, version, JobId(f"j-{port}"), state, f"127.0.0.1:{port}")


def a_split(shares, service="llm/chat"):
    return Split(service, 1, tuple(Share(version, weight) for version, weight in shares.items()), NOON, "ann")


def test_routes_list_each_ready_version_with_its_endpoints_and_a_candidate_with_weight_0():
    replicas = [a_replica("v1", 2), a_replica("v1", 1), a_replica("v2", 3), a_replica("v3", 4)]
    found = routes([a_service(a_split({"v1": 90, "v2": 10}))], replicas, 7)
    assert found == {
        "generation": 7,
        "services": [
            {
                "name": "chat",
                "project": "llm",
                "prefix": "/s/llm/chat/",
                "splits": [
                    {"version": "v1", "weight": 90, "endpoints": ["127.0.0.1:1", "127.0.0.1:2"]},
                    {"version": "v2", "weight": 10, "endpoints": ["127.0.0.1:3"]},
                    {"version": "v3", "weight": 0, "endpoints": ["127.0.0.1:4"]},
                ],
            }
        ],
    }


def test_the_part_of_a_version_that_is_away_goes_to_the_others():
    replicas = [a_replica("v1"), a_replica("v2", 2, state=ReplicaState.GONE)]
    (service,) = routes([a_service(a_split({"v1": 90, "v2": 10}))], replicas, 1)["services"]
    assert [(each["version"], each["weight"]) for each in service["splits"]] == [("v1", 100)]


@pytest.mark.parametrize(
    "service",
    [
        a_service(None),
        a_service(a_split({"v2": 100})),
        a_service(a_split({"v1": 100}), stopped_at=NOON),
        a_service(a_split({"v1": 100}, service="llm/other")),
    ],
)
def test_a_service_that_nothing_ready_serves_is_left_out(service):
    assert routes([service], [a_replica("v1"), a_replica("v2", 2, state=ReplicaState.STARTING)], 1)["services"] == []


@given(
    shares=st.dictionaries(st.sampled_from(VERSIONS), st.integers(0, 100)),
    states=st.dictionaries(st.tuples(st.sampled_from(VERSIONS), st.integers(1, 9)), st.sampled_from(ReplicaState)),
)
def test_the_gateway_accepts_whatever_is_routed(shares, states):
    replicas = [a_replica(version, port, state=state) for (version, port), state in states.items()]
    found = routes([a_service(a_split(shares))], replicas, 1)
    served = parse(json.dumps(found)).services
    assert all(sum(share.weight for share in service.shares) == 100 for service in served)
    ready = {each.version for each in replicas if each.state is ReplicaState.READY}
    assert bool(served) == any(shares.get(version) for version in ready)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 1000)))
def test_spreading_keeps_the_proportion_to_within_one_and_adds_up(given_weights):
    total = sum(given_weights.values())
    found = spread(given_weights)
    assert sum(found.values()) == (100 if total else 0)
    for version, weight in found.items():
        assert abs(weight - given_weights[version] * 100 / max(1, total)) < 1
