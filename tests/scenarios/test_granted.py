"""Stories of quota as it changes: grants that begin and expire, tables that come into force, budgets, closing."""

from datetime import timedelta

from headway.domain.events import AttemptPlaced
from headway.domain.queue_events import BudgetReached, GrantEnding
from headway.server.operations.people.directory import Change
from headway.server.operations.queue.quota import close
from headway.store import ledger
from tests.scenarios.world import World

TIGHT = """
[projects.nlp]
cards.a100 = { guaranteed = 8 }
"""


def test_a_grant_starts_what_waits_and_expires_by_itself(either_world: World) -> None:
    world = either_world
    world.table(TIGHT)
    first, second = world.submit("first"), world.submit("second")
    world.settle()
    assert (first.state, second.state) == ("starting", "queued")
    granted = world.grant("nlp", 8, hours=2)
    world.settle()
    assert second.state == "starting"
    (placed,) = second.facts("attempt-placed")
    assert isinstance(placed, AttemptPlaced)
    assert placed.grant == granted
    for job in (first, second):
        job.starts()
    world.later(hours=2)
    assert [fact.kind for fact in world.facts("grant-expired", "grant-ending")] == ["grant-ending", "grant-expired"]
    second.finishes()
    world.settle()
    third = world.submit("third")
    world.settle()
    assert third.state == "queued"
    with world.platform.database.read() as c:
        assert [entry.grant for entry in ledger.entries(c)] == [granted]


def test_the_holder_is_warned_once_before_a_grant_expires(world: World) -> None:
    world.table(TIGHT)
    granted = world.grant("nlp", 8, days=10)
    world.later(days=6)
    assert world.facts("grant-ending") == []
    world.later(days=1, minutes=1)
    world.later(days=1)
    (warning,) = world.facts("grant-ending")
    assert isinstance(warning, GrantEnding)
    assert (warning.grant, warning.holder, warning.project) == (granted, "ann", "nlp")


def test_a_table_in_force_from_tomorrow_starts_what_waits_tomorrow(world: World) -> None:
    world.table(TIGHT)
    first, second = world.submit("first"), world.submit("second")
    world.settle()
    first.starts()
    world.table(TIGHT.replace("8", "16"), since=world.now + timedelta(days=1))
    world.settle()
    assert second.state == "queued"
    world.later(hours=23)
    assert second.state == "queued"
    world.later(hours=1)
    assert second.state == "starting"


def test_a_spent_budget_warns_first_and_then_queues_until_the_month_ends(world: World) -> None:
    world.table(TIGHT.replace("guaranteed = 8", "guaranteed = 16, budget = { soft = 8.0, hard = 80.0 }"))
    first = world.submit("first")
    world.settle()
    first.starts()
    world.later(hours=2)
    (warned,) = world.facts("budget-reached")
    assert isinstance(warned, BudgetReached)
    assert (warned.branch, warned.bound, warned.month) == ("nlp", "soft", "2026-11")
    world.later(hours=8)
    second = world.submit("second")
    world.settle()
    assert [getattr(fact, "bound", "") for fact in world.facts("budget-reached")] == ["soft", "hard"]
    assert (first.state, second.state) == ("running", "queued")
    assert second.waits is not None
    assert second.waits.reason.code == "budget"
    first.finishes()
    world.later(days=28)
    assert second.state == "starting"


def test_closing_a_project_gives_its_devices_to_others(world: World) -> None:
    both = TIGHT + "[projects.vision]\ncards.a100 = { guaranteed = 8, lend_ceiling = 0 }\n"
    world.table(both.replace("guaranteed = 8 }", 'guaranteed = 8, borrow_ceiling = "any" }'))
    world.grant("vision", 8, days=1)
    theirs = world.submit("theirs", project="vision", devices=1)
    world.settle()
    theirs.starts()
    first, second = world.submit("first", devices=7), world.submit("second", devices=4)
    world.settle()
    assert (first.state, second.state) == ("starting", "queued")
    assert second.waits is not None
    assert second.waits.reason.code == "not-lent"
    with world.platform.database.write() as c:
        close(c, Change("root", world.now), "vision")
    world.settle()
    assert theirs.state == "stopping"
    assert len(world.facts("grant-expired")) == 1
    assert second.state == "starting"
