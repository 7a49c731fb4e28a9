"""`cadence`: how often a job should save, what that is made of, and what other intervals would cost."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option
from headway.cli.language import say, word
from headway.cli.screen import out, table, write_json
from headway.cli.session import client

PERCENT = 100


@command("cadence")
@click.argument("job", type=JOB)
@json_option
def cadence(job: str, fields: tuple[str, ...] | None) -> None:
    """The advised interval and its trade."""
    with client() as api:
        view = api.cadence(job)
    if fields is not None:
        return write_json(view, fields)
    for line in advice_lines(view):
        out(line)
    out("")
    titles = [say(f"column.{name}") for name in ("every", "saving", "lost", "sum", "lost-per-fault", "remark")]
    table(titles, [_row(choice) for choice in view["trade"]], right=titles[:5])
    if view["storages"]:
        out("")
        _show_storages(view["storages"])


def _show_storages(storages: list[dict[str, Any]]) -> None:
    """What writing and reading back was measured to take on every storage."""
    titles = [say(f"column.{name}") for name in ("storage", "saves", "writes", "write-takes")]
    titles += [say(f"column.{name}") for name in ("restores", "reads", "restore-takes", "remark")]
    rows = [
        (
            f"{word('storage', each['kind'])} ({each['storage']})",
            quantities.whole(each["saves"]),
            _rate(each["write_bytes_per_s"]),
            quantities.duration(each["write_s"]),
            quantities.whole(each["restores"]),
            _rate(each["restore_bytes_per_s"]),
            quantities.duration(each["restore_s"]),
            say("cadence.in-use") if each["in_use"] else "",
        )
        for each in storages
    ]
    table(titles, rows, right=titles[1:7])


def _rate(bytes_per_s: float | None) -> str:
    return quantities.UNKNOWN if bytes_per_s is None else f"{quantities.size(bytes_per_s)}/s"


def advice_lines(view: dict[str, Any]) -> list[str]:
    """The advice, and what it is made of, in sentences."""
    present = view["present_s"]
    cost = {"blocking": quantities.duration(view["blocking_s"]), "saves": quantities.whole(view["saves"])}
    rates = {name: quantities.decimal(view[name], 2) for name in ("rate", "rate_low", "rate_high")}
    return [
        say("cadence.now", mode=word("cadence-mode", view["mode"]), present=quantities.duration(present)),
        say("cadence.advice", interval=quantities.duration(view["advised_s"]))
        + (word("cadence-edge", view["edge"]) if view["edge"] else ""),
        say("cadence.cost", **cost) if view["saves"] else say("cadence.assumed", blocking=cost["blocking"]),
        say("cadence.rate", nodes=view["nodes"], mtbf=quantities.duration(view["mtbf_s"]), **rates),
    ]


def _row(choice: dict[str, Any]) -> tuple[str, ...]:
    notes = [
        text for name, text in (("advised", say("cadence.advised")), ("in_use", say("cadence.in-use"))) if choice[name]
    ]
    shares = (choice["save_share"], choice["lost_share"], choice["share"])
    return (
        quantities.duration(choice["interval_s"]),
        *(f"{share * PERCENT:.2g} %" for share in shares),
        quantities.duration(choice["lost_per_fault_s"]),
        ", ".join(notes),
    )
