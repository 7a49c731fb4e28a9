"""Nodes over time: case files, retests, incidents."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.commands.machines import node
from headway.cli.language import say, why, word
from headway.cli.screen import note, out, pairs, state, table, write_json
from headway.cli.session import client

incident = noun("incident")
DAY = 86400


@command("cases", node)
@option("--days", type=click.IntRange(1, 3650), default=90, says="look-back")
@json_option
def list_cases(days: int, fields: tuple[str, ...] | None) -> None:
    """Every node beside its pool's norm, the most suspect first."""
    with client() as api:
        rows = api.cases(days)
    if fields is not None:
        return write_json(rows, fields)
    names = ("node", "state", "suspicion", "faults", "days-in-use", "norm", "attempts", "why")
    titles = [say(f"column.{name}") for name in names]
    table(titles, [_summary(row) for row in rows], right=titles[3:7])


def _summary(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["node"]["name"],
        state(row["node"]["state"]),
        _suspicion(row["suspicion"]),
        quantities.whole(row["record"]["faults"]),
        quantities.decimal(row["record"]["days"], 1),
        quantities.decimal(row["suspicion"]["norm"] * row["record"]["days"], 1),
        quantities.whole(row["attempts"]),
        word("why", row["node"]["reason"]),
    )


def _suspicion(found: dict[str, Any]) -> str:
    level = say(f"suspicion.{found['level']}")
    return f"{level} {quantities.share(found['score'])}"


@command("case", node)
@click.argument("name", metavar="NODE")
@option("--days", type=click.IntRange(1, 3650), default=90, says="look-back")
@json_option
def show_case(name: str, days: int, fields: tuple[str, ...] | None) -> None:
    """One node's file."""
    with client() as api:
        view = api.case(name, days)
    if fields is not None:
        return write_json(view, fields)
    _show_head(view["case"])
    _show_cards(view["cards"])
    titles = [
        say(f"column.{column}", zone=quantities.zone()) for column in ("at", "fault-class", "device", "job", "counts")
    ]
    table(titles, [_fault(one) for one in view["faults"]])
    for one in view["retests"]:
        out(_retest(one))
    for fact in view["history"]:
        if fact["kind"] == "node-changed":
            at = quantities.clock(fact["at"])
            out(f"{at}  {state(fact['state'])}  {fact['by']}  {why(fact['reason'])}".rstrip())


def _show_head(case: dict[str, Any]) -> None:
    cordon = case["cordon"]
    closed = "" if cordon is None else cordon["reason"]
    if cordon and cordon["until"]:
        closed += say("case.until", at=quantities.moment(cordon["until"]))
    if cordon and cordon["needs_retest"]:
        closed += say("case.needs-retest")
    rows = [
        (say("column.node"), f"{case['node']['name']}  {state(case['node']['state'])}"),
        (say("column.suspicion"), _suspicion(case["suspicion"])),
        (say("column.faults"), say("case.faults", **case["record"], attempts=case["attempts"])),
        (say("column.norm"), say("case.norm", rate=case["suspicion"]["rate"], norm=case["suspicion"]["norm"])),
        (say("column.why"), closed or why(case["node"]["reason"])),
    ]
    pairs(rows)


def _show_cards(cards: list[dict[str, Any]]) -> None:
    for card in cards:
        if card["record"]["faults"]:
            shown = _suspicion(card["suspicion"])
            out(say("case.card", device=card["device"], faults=card["record"]["faults"], suspicion=shown))


def _fault(one: dict[str, Any]) -> tuple[str, ...]:
    blame = one["blame"]
    return (
        quantities.clock(blame["at"]),
        word("fault", blame["fault"]),
        quantities.UNKNOWN if blame["device"] is None else str(blame["device"]),
        blame["job"] or quantities.UNKNOWN,
        say("case.counts") if one["counts"] else say(f"counts.{one['why']}"),
    )


def _retest(one: dict[str, Any]) -> str:
    judged = one["judgement"]
    outcome = say(f"outcome.{judged['outcome']}") if judged else say("retest.open")
    low = [f"{f['name']} {f['measured']:.4g}/{f['reference']:.4g}" for f in (judged or {}).get("findings", ())]
    words = (
        quantities.clock(one["requested_at"]),
        one["id"],
        one["job"],
        outcome,
        *low,
        *(judged or {}).get("wrong", ()),
    )
    return "  ".join(words)


@command("retest", node)
@click.argument("names", metavar="NODE...", nargs=-1, required=True)
@option("--project", "-p", type=PROJECT, required=True, says="project")
@option("--devices", type=click.IntRange(1, 1024), says="retest-devices")
@option("--seconds", type=click.IntRange(1, 3600), says="retest-seconds")
@option("--as-reference", is_flag=True, says="as-reference")
@json_option
def retest(fields: tuple[str, ...] | None, names: tuple[str, ...], project: str, **wish: Any) -> None:
    """Close nodes, test them once idle, open them when they pass. The retest's id goes to stdout."""
    with client() as api:
        made = api.retest(list(names), project, devices_per_node=wish.pop("devices"), **wish)
    if fields is not None:
        return write_json(made, fields)
    out(made["id"])
    note(say("retest.queued", job=made["job"], nodes=", ".join(made["nodes"])))


@command("retests", node)
@json_option
def list_retests(fields: tuple[str, ...] | None) -> None:
    """Every retest, newest first."""
    with client() as api:
        rows = api.retests()
    if fields is not None:
        return write_json(rows, fields)
    for row in rows:
        out(f"{','.join(row['nodes'])}  {_retest(row)}")


@command("ls", incident)
@option("--days", type=click.IntRange(1, 3650), default=7, says="look-back")
@json_option
def list_incidents(days: int, fields: tuple[str, ...] | None) -> None:
    """What failed together, by cards idle × time."""
    with client() as api:
        rows = api.incidents(days)
    if fields is not None:
        return write_json(rows, fields)
    names = ("what", "since", "until", "failures", "jobs", "nodes", "idle-time")
    titles = [say(f"column.{name}", zone=quantities.zone()) for name in names]
    table(titles, [_incident(row) for row in rows], right=[titles[3], titles[6]])


def _incident(row: dict[str, Any]) -> tuple[str, ...]:
    found = row["incident"]
    kind = say(f"shared.{found['kind']}")
    return (
        f"{kind} {found['name']}",
        quantities.clock(found["began"]),
        say("incident.open") if found["is_open"] else quantities.clock(found["last"]),
        quantities.whole(len(found["failures"])),
        ",".join(row["jobs"]),
        ",".join(row["nodes"]) or quantities.UNKNOWN,
        quantities.device_seconds(round(row["idle_device_seconds"])),
    )
