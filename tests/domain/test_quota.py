"""The quota tree: what it refuses, and its text form."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import LANGUAGES, PlatformError
from headway.domain.quota import (
    Branch,
    Budget,
    Entry,
    Grant,
    QuotaTree,
    check_grants,
    check_people,
    check_tree,
    check_usage,
    flat,
)
from headway.domain.quota_table import differences, print_tree, read_tree

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def tree(*branches: Branch) -> QuotaTree:
    return QuotaTree({branch.name: branch for branch in branches})


def department(name: str, parent: str | None = None, **entries: Entry) -> Branch:
    return Branch(name, parent, False, entries)


def project(name: str, parent: str | None = None, **entries: Entry) -> Branch:
    return Branch(name, parent, True, entries)


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (tree(project("p", "nobody")), "quota-unknown-parent"),
        (tree(project("q"), project("p", "q")), "quota-unknown-parent"),
        (tree(department("a", "b"), department("b", "a")), "quota-cycle"),
        (tree(department("a", "a")), "quota-cycle"),
        (tree(project("p", None, b300=Entry(1))), "quota-unknown-type"),
        (tree(project("p", None, h200=Entry(-1))), "quota-number"),
        (tree(project("p", None, h200=Entry(10**9))), "quota-number"),
        (tree(project("p", None, h200=Entry(1, weight=0))), "quota-number"),
        (tree(project("p", None, h200=Entry(1, weight=float("nan")))), "quota-number"),
        (tree(project("p", None, h200=Entry(1, borrow_ceiling=-2))), "quota-number"),
        (tree(project("p", None, h200=Entry(1, budget=Budget(9, 3)))), "quota-number"),
        (tree(department("d", None, h200=Entry(8)), project("p", "d", h200=Entry(9))), "quota-above-parent"),
        (
            tree(department("d", None, h200=Entry(8)), department("e", "d"), project("p", "e", h200=Entry(9))),
            "quota-above-parent",
        ),
    ],
)
def test_a_tree_that_contradicts_itself_is_refused(refused: QuotaTree, code: str) -> None:
    with pytest.raises(PlatformError) as refusal:
        check_tree(refused, {"h200"})
    assert refusal.value.code == code
    assert all("—" not in refusal.value.text(language) for language in LANGUAGES)


def test_a_sound_tree_is_accepted() -> None:
    sound = tree(department("d", None, h200=Entry(8)), project("p", "d", h200=Entry(4)), project("q", "d"))
    check_tree(sound, {"h200"})
    assert [branch.name for branch in sound.path("p")] == ["p", "d"]


def test_a_quota_below_what_runs_is_refused() -> None:
    with pytest.raises(PlatformError, match="quota-below-use"):
        check_usage(flat({("p", "h200"): 4}), {("p", "h200"): 5})
    check_usage(tree(project("p", None, h200=Entry(0, borrow_ceiling=None))), {("p", "h200"): 5})


def test_a_ceiling_a_person_is_cut_to_below_what_they_run_is_refused() -> None:
    used = {("p", "h200", "ann"): 3, ("p", "h200", "bo"): 1}
    with pytest.raises(PlatformError, match="ann has 3 × h200 in p now, and could have no more than 2"):
        check_people(tree(project("p", None, h200=Entry(8, per_person=2))), used)
    check_people(
        tree(project("p", None, h200=Entry(8, per_person=3)), project("q", None, h200=Entry(8, per_person=0))), used
    )
    check_people(tree(project("p", None, h200=Entry(8))), used)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"project": "nobody"}, "grant-unknown-project"),
        ({"ends": NOW}, "grant-period"),
        ({"devices": 0}, "grant-number"),
        ({"begins": NOW + DAY / 2, "ends": NOW + 2 * DAY}, "grant-overlap"),
    ],
)
def test_grants_that_make_no_sense_are_refused(change: dict[str, object], code: str) -> None:
    first = Grant("p", "h200", 8, NOW, NOW + DAY)
    with pytest.raises(PlatformError) as refusal:
        check_grants([first, replace(first, **change)], tree(project("p")))  # type: ignore[arg-type]
    assert refusal.value.code == code
    check_grants([first, replace(first, begins=NOW + DAY, ends=NOW + 2 * DAY)], tree(project("p")))


ceilings = st.none() | st.integers(0, 1000)
hours = st.none() | st.floats(0, 1e6)
entries = st.builds(
    Entry, st.integers(0, 1000), ceilings, ceilings, st.floats(0.1, 100), ceilings, st.builds(Budget, hours, hours)
)
cards = st.dictionaries(st.sampled_from(["h200", "910b", "RTX 4090"]), entries)


@given(
    st.dictionaries(st.from_regex(r"[a-z]([a-z0-9]|\.(?!\.)){0,5}[a-z]", fullmatch=True), cards, max_size=5), st.data()
)
def test_a_tree_survives_its_text_form(named: dict[str, dict[str, Entry]], data: st.DataObject) -> None:
    parents = st.none() | st.sampled_from(list(named) or ["top"])
    kinds = st.booleans()
    drawn = tree(*(Branch(name, data.draw(parents), data.draw(kinds), held) for name, held in named.items()))
    assert read_tree(print_tree(drawn)) == drawn
    assert differences(drawn, read_tree(print_tree(drawn))) == ()


@pytest.mark.parametrize(
    ("toml", "code"),
    [
        ("[projects.p", "quota-unreadable"),
        ("[teams.p]", "unknown-field"),
        ("[projects.p]\ncards.h200 = {guarantee = 8}", "unknown-field"),
        ("[projects.p]\ncards.h200 = {guaranteed = -8}", "invalid-field"),
        ("[projects.p]\ncards.h200 = {guaranteed = true}", "invalid-field"),
        ("[projects.p]\ncards.h200 = 8", "invalid-field"),
        ("projects = 3", "invalid-field"),
        ("[projects.'p q']", "invalid-name"),
        ("[projects.p]\n[departments.p]", "quota-name-twice"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(toml: str, code: str) -> None:
    with pytest.raises(PlatformError) as refusal:
        read_tree(toml)
    assert refusal.value.code == code


def test_a_change_is_told_number_by_number() -> None:
    before = tree(project("p", None, h200=Entry(8)))
    after = tree(project("p", None, h200=Entry(16, borrow_ceiling=None)))
    assert differences(before, after) == (
        'projects.p.cards.h200.borrow_ceiling: — → "any"',
        "projects.p.cards.h200.guaranteed: 8 → 16",
    )
