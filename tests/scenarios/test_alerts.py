"""Stories of alerts: what fires, who is told, what is kept, over restarts too."""

from datetime import timedelta
from typing import Any

import pytest

from headway.domain.alert import Channel, Scope
from headway.domain.errors import PlatformError
from headway.server.operations.alerts import alert_rules
from headway.server.operations.alerts.alert_rules import RuleWish
from headway.server.operations.alerts.rehearse_alert import would_have_fired
from headway.server.operations.nodes import cordoning
from headway.server.operations.nodes.node_reports import key_of
from headway.store import alerts, notices
from headway.store.nodes import Cordon
from headway.store.notices import Subscription
from headway.store.readings.port import Reading
from tests.scenarios.world import World

WEEK = timedelta(days=7)


def _rule(world: World, name: str, watches: str, **fields: Any) -> None:
    with world.platform.database.write() as c:
        alert_rules.set_rule(c, world.change, RuleWish(name, watches, **fields))


def _channel(world: World, name: str = "ops", language: str = "en") -> None:
    with world.platform.database.write() as c:
        notices.put_channel(c, Channel(name, "json://127.0.0.1:1/", language, "ann", world.now))


def _fired(world: World) -> list[tuple[str, str, bool]]:
    with world.platform.database.read() as c:
        found = alerts.fired(c, world.now - WEEK)
    return sorted((record.rule, record.subject.name, record.ended_at is None) for record in found)


def _told(world: World) -> list[str]:
    with world.platform.database.read() as c:
        return [notice.text for notice in notices.waiting(c)]


def test_a_long_wait_fires_once_is_told_once_and_ends_with_the_start(either_world: World) -> None:
    world = either_world
    _channel(world)
    _rule(world, "long-wait", "queue-wait", above=600.0, recipients=["ops"])
    running = world.submit("train", nodes=2)
    world.settle()
    running.starts()
    waiting = world.submit("late")
    world.later(minutes=9)
    assert _fired(world) == []
    world.later(minutes=2)
    world.restart()
    world.later(minutes=5)
    assert _fired(world) == [("long-wait", waiting.id, True)]
    running.finishes()
    world.settle()
    world.later(seconds=1)
    assert _fired(world) == [("long-wait", waiting.id, False)]
    told = _told(world)
    assert [text.startswith("over: ") for text in told] == [False, True]
    assert all("long-wait" in text and waiting.id in text for text in told)
    with world.platform.database.read() as c:
        rule = alert_rules.find_rule(c, "long-wait")
        assert len(would_have_fired(world.platform, c, rule, world.now, WEEK) or ()) == 1


def test_a_job_that_broke_waits_anew_from_when_it_was_queued_again(world: World) -> None:
    _rule(world, "long-wait", "queue-wait", above=600.0)
    train = world.submit(nodes=2, template="patient")
    world.settle()
    train.starts()
    world.later(minutes=30)
    with world.platform.database.write() as c:
        cordoning.put(c, world.change, "n1", Cordon("a story"))
    train.breaks(signal=9)
    world.later(minutes=1)
    assert _fired(world) == []
    world.later(minutes=9)
    assert train.state == "queued"
    assert _fired(world) == []
    world.later(minutes=3)
    assert _fired(world) == [("long-wait", train.id, True)]
    with world.platform.database.read() as c:
        rule = alert_rules.find_rule(c, "long-wait")
        (again,) = would_have_fired(world.platform, c, rule, world.now, WEEK) or ()
    assert again > world.now - timedelta(minutes=5)


def test_every_wait_of_a_job_that_was_long_enough_counts(world: World) -> None:
    _rule(world, "long-wait", "queue-wait", above=600.0)
    others = world.submit("others", nodes=2)
    world.settle()
    others.starts()
    train = world.submit("train", nodes=2, template="patient")
    world.later(minutes=12)
    others.finishes()
    world.settle()
    world.later(seconds=1)
    train.starts()
    with world.platform.database.write() as c:
        cordoning.put(c, world.change, "n1", Cordon("a story"))
    train.breaks(signal=9)
    for minutes in (1, 9, 5):
        world.later(minutes=minutes)
    assert train.state == "queued"
    assert len(_fired(world)) == 2
    with world.platform.database.read() as c:
        rule = alert_rules.find_rule(c, "long-wait")
        assert len(would_have_fired(world.platform, c, rule, world.now, WEEK) or ()) == 2
        assert would_have_fired(world.platform, c, rule, world.now, timedelta(minutes=1)) == []


def test_a_muted_rule_is_kept_and_told_to_nobody(world: World) -> None:
    _channel(world)
    _rule(world, "ends", "fact:job-ended", recipients=["ops"])
    with world.platform.database.write() as c:
        alert_rules.mute(c, world.change, "ends", world.now + timedelta(hours=1))
    job = world.submit()
    world.settle()
    job.starts().finishes()
    world.settle()
    assert (_fired(world), _told(world)) == ([("ends", job.id, False)], [])
    world.later(hours=2)
    again = world.submit()
    world.settle()
    again.starts().finishes()
    world.settle()
    assert len(_fired(world)) == 2
    assert len(_told(world)) == 1


def test_who_follows_a_job_is_told_of_its_start_and_its_end(world: World) -> None:
    _channel(world, "own", "zh")
    job = world.submit("train")
    with world.platform.database.write() as c:
        notices.subscribe(c, Subscription("ann", job.id, "own", world.now))
    world.settle()
    job.starts().finishes()
    world.settle()
    started, ended = _told(world)
    assert "已开始" in started
    assert "已结束：成功，" in ended


def test_a_channel_that_refuses_is_tried_again_and_nothing_is_lost(world: World) -> None:
    _channel(world)
    _rule(world, "ends", "fact:job-ended", recipients=["ops"])
    job = world.submit()
    world.settle()
    job.starts().finishes()
    world.settle()
    world.later(seconds=15)
    with world.platform.database.read() as c:
        count, why = notices.troubles(c)["ops"]
    assert count == 1
    assert "127.0.0.1:1/" not in why
    assert len(_told(world)) == 1


def test_a_down_node_and_idle_cards_fire_and_are_over(world: World) -> None:
    _rule(world, "idle", "idle-devices", above=15.0)
    _rule(world, "few", "idle-devices", below=8.0)
    world.later(seconds=10)
    assert _fired(world) == [("idle", "fake/a100", True)]
    job = world.submit("train", nodes=2)
    world.settle()
    job.starts()
    world.later(seconds=10)
    assert _fired(world) == [("few", "fake/a100", True), ("idle", "fake/a100", False)]


def test_a_hot_card_and_a_silent_daemon_of_an_idle_node_fire(world: World) -> None:
    _rule(world, "hot", "reading:temperature_celsius", above=90.0)
    _rule(world, "mute-node", "node-silence", above=60.0, scope=Scope(node="n2"))
    for node, celsius in (("n1", 95.0), ("n2", 40.0)):
        hot = Reading(key_of(node), node, None, 3, "temperature_celsius", world.now, celsius)
        world.platform.readings.add([hot])
    world.later(seconds=5)
    assert _fired(world) == [("hot", "n1", True)]
    world.later(minutes=2)
    assert _fired(world) == [("hot", "n1", True), ("mute-node", "n2", True)]


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"watches": "queue-weight", "above": 1.0}, "watches"),
        ({"watches": "queue-wait"}, "above"),
        ({"watches": "queue-wait", "above": 1.0, "below": 2.0}, "above"),
        ({"watches": "fact:nothing"}, "watches"),
        ({"watches": "fact:alert-fired"}, "watches"),
        ({"watches": "fact:job-ended", "above": 1.0}, "above"),
        ({"watches": "reading:", "above": 1.0}, "watches"),
        ({"watches": "queue-wait", "above": 1.0, "recipients": ["nobody"]}, "nobody"),
        ({"watches": "queue-wait", "above": 1.0, "scope": Scope(project="nowhere")}, "nowhere"),
        ({"watches": "queue-wait", "above": 1.0, "scope": Scope(node="n9")}, "n9"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_by_field(world: World, wish: dict[str, Any], field: str) -> None:
    with pytest.raises(PlatformError) as refused:
        _rule(world, "bad", **wish)
    assert field in (refused.value.params.get("field"), refused.value.params.get("value"))
    with world.platform.database.read() as c:
        assert alerts.rules(c) == []
