"""Engines are found by entry points, and each has the five verbs."""

import inspect
import sys
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from headway.engines.protocol import Engine, EngineConfig, OpenEngine

VERBS = ("inventory", "launch", "observe", "stop", "logs")


@pytest.mark.parametrize("name", ["fake", "local", "slurm"])
def test_an_engine_is_found_by_its_name_and_speaks_the_five_verbs(name: str, tmp_path: Path) -> None:
    (entry,) = entry_points(group="headway.engines", name=name)
    open_engine: OpenEngine = entry.load()
    options = {"share": str(tmp_path / "share")} if name == "slurm" else {}
    config = EngineConfig(tmp_path, tmp_path / "a.pyz", sys.executable, timedelta(seconds=1), options=options)
    engine = open_engine(config)
    assert engine.name == name
    for verb in VERBS:
        asked, given = (inspect.signature(getattr(kind, verb)) for kind in (Engine, type(engine)))
        assert list(given.parameters) == list(asked.parameters), verb
