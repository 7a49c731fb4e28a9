"""Where output goes: data on stdout, everything else on stderr; colour only for a terminal that wants it.

`NO_COLOR`, `--no-color` and `TERM=dumb` switch colour off; what is not a terminal gets no decoration at all.
"""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Final

import click

from headway.cli.language import word

STYLES: Final = {
    "starting": ("◔", "cyan"),
    "running": ("●", "blue"),
    "stopping": ("◐", "yellow"),
    "recovering": ("↻", "magenta"),
    "held": ("◫", "yellow"),
    "succeeded": ("✓", "green"),
    "failed": ("✕", "red"),
    "stopped": ("⊘", "bright_black"),
    "queued": ("○", None),
    "up": ("●", "green"),
    "down": ("✕", "red"),
    "cordoned": ("◐", "yellow"),
    "unknown": ("?", "bright_black"),
    "ready": ("●", "green"),
    "gone": ("⊘", "bright_black"),
    "verified": ("✓", "green"),
    "rejected": ("✕", "red"),
    "lost": ("✕", "red"),
}
UNBOUNDED: Final = 10_000


def is_terminal(stream: IO[Any]) -> bool:
    return stream.isatty()


def is_coloured(stream: IO[Any]) -> bool:
    """Whether a stream is a terminal that wants colour."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def out(text: str = "") -> None:
    """A line of data."""
    click.echo(text, color=is_coloured(sys.stdout))


def note(text: str, *, end: str = "\n") -> None:
    """A line for the person: progress, hints, warnings."""
    click.echo(text, err=True, nl=end == "\n", color=is_coloured(sys.stderr))


def state(value: str | None) -> str:
    """A state in the reader's words; with its sign and colour on a terminal."""
    shown = word("state", value)
    if not is_terminal(sys.stdout):
        return shown
    sign, colour = STYLES.get(value or "unknown", ("·", None))
    return click.style(f"{sign} {shown}", fg=colour)


def write_json(value: Any, fields: Sequence[str] = ()) -> None:
    """JSON with the keys of the REST schema; with `fields` (`job.id`, `waits.position`) only those, by that name."""
    picked = [_pick(item, fields) for item in value] if isinstance(value, list) else _pick(value, fields)
    click.echo(json.dumps(picked, ensure_ascii=False, indent=2))


def write_json_line(value: Any, fields: Sequence[str] = ()) -> None:
    """One line of JSON, for what is followed or watched."""
    click.echo(json.dumps(_pick(value, fields), ensure_ascii=False))


def _pick(item: Any, fields: Sequence[str]) -> Any:
    return {field: _at(item, field) for field in fields} if fields else item


def _at(item: Any, path: str) -> Any:
    for name in path.split("."):
        item = item.get(name) if isinstance(item, Mapping) else None
    return item


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[str] = ()) -> None:
    """Columns without borders; those named in `right` are flush right. Wide characters are counted as two."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    wide = is_terminal(sys.stdout)
    console = Console(width=None if wide else UNBOUNDED, color_system="standard" if is_coloured(sys.stdout) else None)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold" if wide else "")
    for title in titles:
        grid.add_column(title, justify="right" if title in right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text.from_ansi(cell) for cell in row))
    with console.capture() as captured:
        console.print(grid, highlight=False, markup=False)
    for line in captured.get().splitlines():
        out(line.rstrip())


def pairs(rows: Iterable[tuple[str, str]]) -> None:
    """Names and values, one below the other; values of nothing are left out."""
    from rich.cells import cell_len

    shown = [(name, value) for name, value in rows if value]
    width = max((cell_len(name) for name, _ in shown), default=0)
    for name, value in shown:
        out(f"{name}{' ' * (width - cell_len(name))}  {value}")
