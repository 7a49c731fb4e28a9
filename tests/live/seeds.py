"""How many seeds of a kill matrix are run: a few in `make test`, all in `make evaluate`."""

import os

import pytest


def seeds(few: int, all: int) -> range:
    """The seeds to run now."""
    return range(all if os.environ.get("HEADWAY_SEEDS") == "all" else few)


exhaustive = pytest.mark.skipif(os.environ.get("HEADWAY_SEEDS") != "all", reason="long: part of `make evaluate`")
