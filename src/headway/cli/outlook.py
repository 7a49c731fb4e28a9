"""What would follow a submission, as people read it: place, reason, range, quota after, device-hours."""

from collections.abc import Iterable
from typing import Any

from headway.cli import quantities
from headway.cli.language import say
from headway.cli.screen import note, out, write_json
from headway.cli.telling import start_range

Row = dict[str, Any]


def show_outlook(told: Row, fields: tuple[str, ...] | None) -> None:
    """The outlook of one job, or of the first and the last of an array."""
    if fields is not None:
        return write_json(told, fields)
    if "jobs" in told:
        out(say("dry-run.array", jobs=quantities.whole(told["jobs"])))
        lines = [say("dry-run.first", what=line) for line in _standing(told["first"])]
        lines += [say("dry-run.last", what=line) for line in _standing(told["last"]) if told["jobs"] > 1]
        lines += [*_after(told["quota"], told["first"]), *_hours(told["first"])]
    else:
        lines = [*_standing(told), *_after(told["quota"], told), *_hours(told)]
    for line in lines:
        out(line)
    note(say("submit.dry"))


def _standing(told: Row) -> Iterable[str]:
    if told["starts_on"]:
        yield say("dry-run.now", devices=quantities.whole(told["devices"]), device_type=told["starts_on"])
        return
    waits = told["waits"]
    yield say("dry-run.waits", position=waits["position"], waiting=told["waiting"], reason=waits["sentence"])
    yield start_range({"forecast": told["forecast"]})


def _after(quota: list[Row], told: Row) -> Iterable[str]:
    for one in quota:
        names = ("branch", "device_type", "after", "own", "used")
        line = say("dry-run.after", **{name: one[name] for name in names})
        if one["borrowed_after"]:
            line += say("dry-run.borrowed", devices=one["borrowed_after"])
        if one["ceiling"] is not None and one["after"] > one["ceiling"]:
            line += say("dry-run.beyond", ceiling=one["ceiling"])
        yield line
    if not quota:
        yield say("dry-run.no-quota", project=told["spec"]["project"])


def _hours(told: Row) -> Iterable[str]:
    cost = told["device_hours"]
    usual, long, most = (quantities.decimal(cost[name], 1) for name in ("usual", "long", "at_most"))
    if cost["by"] == "history":
        yield say("dry-run.hours-history", usual=usual, long=long, at_most=most)
    else:
        yield say("dry-run.hours-limit", at_most=most) if cost["by"] else say("dry-run.hours-unknown")
