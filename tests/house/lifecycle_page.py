"""Writes docs/lifecycle.md from the tables in the domain; run it after changing one."""

from collections.abc import Mapping

from headway.domain.lifecycle import ATTEMPT_MOVES, JOB_MOVES, AttemptState, JobState, diagram
from tests.house.repository import REPOSITORY

PAGE = REPOSITORY / "docs/lifecycle.md"
OPENING = """\
# Lifecycles

Written by `python -m tests.house.lifecycle_page` from the tables in `src/headway/domain/lifecycle.py`, the only place
that decides what a legal move is; a test keeps this page fresh. Any other move is refused with `illegal-move`.
"""


def page() -> str:
    """The whole page."""
    job, attempt = diagram(JOB_MOVES), diagram(ATTEMPT_MOVES)
    ends = ", ".join(f"`{state}`" for state in JobState if state.is_terminal)
    parts = [
        OPENING,
        "## A job\n",
        f"It ends in {ends}. It has devices while its newest attempt has them.\n",
        _mermaid(job),
        _table(JOB_MOVES),
        "## An attempt\n",
        f"Its devices are taken, and billed, until `{AttemptState.ENDED}`.\n",
        _mermaid(attempt),
        _table(ATTEMPT_MOVES),
    ]
    return "\n".join(parts)


def _mermaid(text: str) -> str:
    return f"```mermaid\n{text}\n```\n"


def _table(moves: Mapping[tuple[JobState, JobState], str] | Mapping[tuple[AttemptState, AttemptState], str]) -> str:
    rows = [f"| {before} | {after} | {why} |" for (before, after), why in moves.items()]
    return "\n".join(["| from | to | because |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
