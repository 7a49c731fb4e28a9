"""Engines are found by entry points, and each has the five verbs."""

import inspect
from importlib.metadata import entry_points

import pytest

from headway.engines.protocol import Engine

VERBS = ("inventory", "launch", "observe", "stop", "logs")


@pytest.mark.parametrize("name", ["fake", "local", "slurm"])
def test_an_engine_is_found_by_its_name_and_speaks_the_five_verbs(name: str) -> None:
    (entry,) = entry_points(group="headway.engines", name=name)
    engine = entry.load()
    for verb in VERBS:
        asked, given = (inspect.signature(getattr(kind, verb)) for kind in (Engine, engine))
        assert list(given.parameters) == list(asked.parameters), verb
