"""Headway (进程): the whole package by name, and `attach` (giving a `Run`) for a program that trains.

Importing this loads nothing else: the same file travels in the agent's zipapp, in front of any image's own packages.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.sdk.job import Run as Run
    from headway.sdk.job import attach as attach

__version__ = "0.1.0"
__all__ = ["Run", "__version__", "attach"]


def __getattr__(name: str) -> object:
    if name in ("Run", "attach"):
        from headway.sdk import job

        return getattr(job, name)
    raise AttributeError(f"module 'headway' has no attribute {name!r}")
