"""Versions of the quota table: the newest approved one whose date has come is in force."""

from dataclasses import replace

from sqlalchemy import Connection, text

from headway.domain.quota import Quota
from headway.domain.quota_version import QuotaVersion
from headway.store import quota_versions, quotas, world
from tests.store.rows import NOW, later, with_projects

PROPOSED = QuotaVersion(
    number=0,
    author="ann",
    reason="进一步",
    content="[projects.vision]\ncards.cpu = { guaranteed = 9 }\n",
    diff=("projects.vision.cards.cpu.guaranteed: 4 → 9",),
    based_on=1,
    proposed_at=later(1),
)


def test_a_version_comes_back_as_it_was_and_a_proposal_changes_nothing(c: Connection) -> None:
    with_projects(c)
    before = world.version(c)
    kept = quota_versions.add(c, PROPOSED)
    assert quota_versions.all(c)[1:] == [kept] == [replace(PROPOSED, number=2)]
    assert world.version(c) == before
    assert quotas.quotas(c, later(2)) == [Quota("vision", "cpu", 4)]


def test_an_approved_version_holds_from_its_date_on(c: Connection) -> None:
    with_projects(c)
    kept = quota_versions.add(c, PROPOSED)
    approved = replace(kept, approved_by="bob", approved_at=later(2), in_force_from=later(60))
    before = world.version(c)
    quota_versions.approve(c, approved)
    assert world.version(c) == before + 1
    assert quota_versions.newest(c) == approved
    assert quotas.quotas(c, later(59)) == [Quota("vision", "cpu", 4)]
    assert quotas.quotas(c, later(60)) == [Quota("vision", "cpu", 9)]


def test_a_closed_project_is_promised_nothing(c: Connection) -> None:
    with_projects(c)
    quotas.close(c, "vision", later(1))
    assert quotas.quotas(c, later(1)) == []
    assert quota_versions.tree(c, later(1)).branches.keys() == {"research"}


def test_a_first_quota_puts_the_project_under_its_department(c: Connection) -> None:
    with_projects(c)
    assert [branch.name for branch in quota_versions.tree(c, NOW).path("vision")] == ["vision", "research"]
    assert c.execute(text("SELECT count(*) FROM quota_versions")).scalar_one() == 1
