"""Facts: one kind each, all of them listed, frozen, with when and by whom."""

import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

import pytest

from headway import domain
from headway.domain.events import KINDS, Event, Fact, StopRequested, field_names
from headway.domain.ids import JobId
from tests.builders import NOW

FACTS = get_args(Fact)


def test_no_two_facts_share_a_kind() -> None:
    assert len({fact.kind for fact in FACTS}) == len(FACTS) == len(KINDS)


def test_every_fact_written_in_a_file_of_facts_is_listed() -> None:
    files = [found.name for found in iter_modules(domain.__path__) if found.name.endswith("_events")]
    modules = [import_module(f"{domain.__name__}.{name}") for name in files]
    named = [thing for module in modules for thing in vars(module).values()]
    written = {thing for thing in named if isinstance(thing, type) and issubclass(thing, Event)}
    assert len(files) > 10
    assert written - {Event} == set(FACTS)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.kind)
def test_a_facts_kind_is_its_name_and_it_says_when_and_by_whom(fact: type[Event]) -> None:
    assert fact.kind == re.sub(r"(?<!^)(?=[A-Z])", "-", fact.__name__).lower()
    assert is_dataclass(fact)
    assert [field.name for field in fields(fact)][:2] == ["at", "by"]
    assert field_names(fact.kind) == tuple(field.name for field in fields(fact))[2:]


def test_a_fact_cannot_be_changed() -> None:
    fact = StopRequested(at=NOW, by="ann", job=JobId("j-1"), reason="user")
    with pytest.raises(FrozenInstanceError):
        fact.reason = "other"  # type: ignore[misc]
