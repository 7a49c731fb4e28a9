"""`logs`: one rank's output, byte for byte on stdout; followed over attempts until the job has ended."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from headway.cli import exits
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option, option
from headway.cli.follow import TERMINAL, until
from headway.cli.language import say
from headway.cli.screen import note, write_json_line
from headway.cli.session import client
from headway.domain.errors import PlatformError

if TYPE_CHECKING:
    from headway.sdk.client import Client

Writer = Callable[[bytes, int], None]  # a piece of output and the offset after it
PIECE = 1 << 20
FIRST_TAIL = 16 << 10
SEARCHED = 500


@command("logs")
@click.argument("job", type=JOB)
@option("--follow", "-f", is_flag=True)
@option("--rank", type=click.IntRange(0), default=0, show_default=True)
@option("--attempt", type=click.IntRange(1))
@option("--tail", type=click.IntRange(0))
@option("--search")
@option("--regex", is_flag=True)
@option("--ignore-case", "-i", is_flag=True)
@json_option
def logs(  # noqa: PLR0913
    job: str,
    follow: bool,
    rank: int,
    attempt: int | None,
    tail: int | None,
    search: str | None,
    regex: bool,
    ignore_case: bool,
    fields: tuple[str, ...] | None,
) -> None:
    """Print a rank's output, or the lines of it that are looked for."""
    write = _write_json if fields is not None else _write
    if search is not None:
        with client() as api:
            asked = {"attempt": attempt, "regex": regex, "ignore_case": ignore_case}
            _search(api.log_search, (job, search, rank), asked, as_json=fields is not None)
        return
    with client() as api:
        chosen = attempt if attempt is not None or not follow else _newest_attempt(api, job, 1)
        while True:
            end = _print_kept(api, job, rank, chosen, tail, write)
            if not follow:
                if end == 0:
                    note(say("logs.nothing", rank=rank, job=job))
                return
            for event in api.follow_log(job, rank, attempt=chosen, offset=end):
                end = int(event.id or end)
                write(str(event.data).encode(), end)
            if attempt is not None or chosen is None or (chosen := _newest_attempt(api, job, chosen + 1)) is None:
                return
            tail = None
            note(say("logs.attempt", number=chosen))


def _search(ask: Callable[..., Any], place: tuple[str, str, int], asked: dict[str, Any], *, as_json: bool) -> None:
    """Print every line that is found, behind its place in the log; ends like grep when there is none."""
    offset: int | None = 0
    found = False
    while offset is not None:
        answer = ask(*place, offset=offset, limit=SEARCHED, **asked)
        for match in answer["matches"]:
            found = True
            if as_json:
                write_json_line(match)
            else:
                click.echo(f"{match['offset']}: {match['text']}")
        offset = answer["next"]
    if not found:
        note(say("logs.not-found", text=place[1], rank=place[2], job=place[0]))
        sys.exit(exits.NOT_FOUND)


def _newest_attempt(api: "Client", job: str, least: int) -> int | None:
    """The number of the newest attempt once there is one of at least this number; None when the job ended before."""

    def is_over(view: dict[str, object]) -> bool:
        return _number(view) >= least or _state(view) in TERMINAL

    view = api.job(job)
    if not is_over(view):
        note(say("logs.waits", job=job))
        view = until(lambda: api.job(job), is_over, None) or view
    number = _number(view)
    if number == 0:
        raise PlatformError("not-found", what="attempt", value=f"{job}.1", near=None)
    return number if number >= least else None


def _number(view: dict[str, object]) -> int:
    attempt = view["attempt"]
    return int(attempt["number"]) if isinstance(attempt, dict) else 0


def _state(view: dict[str, object]) -> str:
    job = view["job"]
    return str(job["state"]) if isinstance(job, dict) else ""


def _print_kept(api: "Client", job: str, rank: int, attempt: int | None, tail: int | None, write: Writer) -> int:
    """Print what is there already, or its last lines; the offset after it."""
    offset = 0 if tail is None else _offset_of_tail(api, job, rank, attempt, tail)
    while True:
        data, start, size = api.log_window(job, rank, attempt=attempt, offset=offset, limit=PIECE)
        offset = start + len(data)
        if data:
            write(data, offset)
        if not data or offset >= size:
            return offset


def _offset_of_tail(api: "Client", job: str, rank: int, attempt: int | None, lines: int) -> int:
    """Where the last `lines` lines begin; the window grows until it holds them."""
    window = FIRST_TAIL
    while True:
        data, start, size = api.log_window(job, rank, attempt=attempt, offset=-window, limit=window)
        end = len(data) - 1 if data.endswith(b"\n") else len(data)
        if lines == 0:
            return size
        at = end
        for _ in range(lines):
            at = data.rfind(b"\n", 0, max(at, 0))
            if at < 0:
                break
        if at >= 0 or start == 0:
            return start + at + 1
        window *= 4


def _write(data: bytes, _end: int) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _write_json(data: bytes, end: int) -> None:
    write_json_line({"offset": end - len(data), "text": data.decode("utf-8", "replace")})
