"""How the story is told: a moving line on a terminal, plain lines otherwise. Decides nothing about what happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.status import Status

T = TypeVar("T")
POLL_S = 0.2


class Story:
    """Prints chapters, what happens in them, and how long they took."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)
        self.began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the story began."""
        return time.monotonic() - self.began

    @contextmanager
    def chapter(self, title: str) -> Iterator[None]:
        """A numbered part of the story."""
        self.console.print(f"\n[bold]{escape(title)}[/bold]")
        begun = time.monotonic()
        yield
        self.console.print(f"  [dim]{time.monotonic() - begun:.1f} s[/dim]")

    def say(self, line: str) -> None:
        """One thing that happened."""
        self.console.print(f"  {escape(line)}", soft_wrap=True)

    def wait(self, what: str, found: Callable[[], T | None], within_s: float = 90.0) -> T:
        """Ask until there is an answer. Raises `TimeoutError` naming what was waited for."""
        deadline = time.monotonic() + within_s
        with self._moving(what) as status:
            while (answer := found()) is None:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"waited {within_s:.0f} s for {what}")
                time.sleep(POLL_S)
                if status is not None:
                    status.update(f"  {escape(what)} …")
        return answer

    @contextmanager
    def _moving(self, what: str) -> Iterator[Status | None]:
        if not self.console.is_terminal:
            yield None
            return
        with self.console.status(f"  {escape(what)} …") as status:
            yield status
