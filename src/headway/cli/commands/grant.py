"""Grants: approved, expiring additions to a quota; asked for, decided, listed."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import MOMENT, PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, state, table, write_json
from headway.cli.session import client

STATES = ("requested", "approved", "denied", "withdrawn", "expired")

grant = noun("grant")


@command("request", grant)
@click.argument("project", type=PROJECT)
@click.argument("device_type")
@click.argument("devices", type=int)
@option("--until", "ends", type=MOMENT, required=True)
@option("--from", "begins", type=MOMENT, says="grant-from")
@option("--reason", required=True)
@json_option
def request(fields: tuple[str, ...] | None, **wish: Any) -> None:
    """Ask for devices beyond the quota until a moment; the request's id goes to stdout."""
    with client() as api:
        made = api.request_grant(wish)
    if fields is not None:
        return write_json(made, fields)
    out(made["id"])
    for warning in made["warnings"]:
        note(f"! {warning}")
    note(say("grant.requested", grant=made["id"]))


@command("decide", grant)
@click.argument("grant_id", metavar="GRANT")
@option("--approve/--deny", "approve", required=True, default=None, says="approve")
@option("--note", "remark", default="")
@json_option
def decide(grant_id: str, approve: bool, remark: str, fields: tuple[str, ...] | None) -> None:
    """Approve or deny somebody else's request."""
    with client() as api:
        made = api.decide_grant(grant_id, approve, remark)
    if fields is not None:
        return write_json(made, fields)
    how = {"grant": grant_id, "state": state(made["state"])}
    note(say("grant.decided", **how, ends=quantities.moment(made["ends"])) if approve else say("grant.denied", **how))


@command("withdraw", grant)
@click.argument("grant_id", metavar="GRANT")
@option("--reason", default="")
@json_option
def withdraw(grant_id: str, reason: str, fields: tuple[str, ...] | None) -> None:
    """Take one's own request back before it is decided."""
    with client() as api:
        made = api.withdraw_grant(grant_id, reason)
    if fields is not None:
        return write_json(made, fields)
    note(say("grant.withdrawn", grant=grant_id))


@command("ls", grant)
@option("--project", type=PROJECT)
@option("--state", "wanted", type=click.Choice(STATES))
@json_option
def list_grants(project: str | None, wanted: str | None, fields: tuple[str, ...] | None) -> None:
    """Requests and decisions, newest first; what ends soon is said."""
    with client() as api:
        rows = api.grants(project, wanted)
    if fields is not None:
        return write_json(rows, fields)
    names = ("id", "project", "device-type", "devices", "state", "begins", "ends", "asked-by", "decided-by", "why")
    titles = [say(f"column.{name}", zone=quantities.zone()) for name in names]
    table(titles, [_row(view["request"]) for view in rows], right=[titles[3]])
    for view in rows:
        if view["ends_soon"]:
            asked = view["request"]
            note(say("grant.ends-soon", grant=asked["id"], ends=quantities.moment(asked["ends"])))


def _row(asked: dict[str, Any]) -> tuple[str, ...]:
    return (
        asked["id"],
        asked["project"],
        asked["device_type"],
        quantities.whole(asked["devices"]),
        state(asked["state"]),
        quantities.clock(asked["begins"]),
        quantities.clock(asked["ends"]),
        asked["requested_by"],
        asked["decided_by"] or quantities.UNKNOWN,
        asked["reason"],
    )
