"""The noun `node` whole: its verbs stand in several modules, which are loaded with it."""

from headway.cli.commands import cases, watching
from headway.cli.commands.machines import node

__all__ = ["cases", "node", "watching"]
