"""Alerts: what fired, rules, channels to people, and following a job."""

import sys
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import DURATION, JOB, MOMENT, PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

alert = noun("alert")
channel = noun("channel")


@command("ls", alert)
@option("--days", type=click.IntRange(1, 365), default=7, says="look-back")
@option("--open", "is_open", is_flag=True, says="alert-open")
@option("--job", type=JOB, says="alert-job")
@json_option
def list_alerts(days: int, is_open: bool, job: str | None, fields: tuple[str, ...] | None) -> None:
    """What fired, newest first."""
    with client() as api:
        rows = api.alerts(days, open=is_open, job=job)
    if fields is not None:
        return write_json(rows, fields)
    names = ("id", "rule", "what", "since", "until", "value", "seen-by")
    titles = [say(f"column.{name}", zone=quantities.zone()) for name in names]
    table(titles, [_alert(row) for row in rows], right=[titles[5]])


def _alert(row: dict[str, Any]) -> tuple[str, ...]:
    found = row["alert"]
    return (
        found["id"],
        found["rule"] + (say("alert.muted") if row["muted"] else ""),
        f"{found['subject']['kind']}/{found['subject']['name']}",
        quantities.clock(found["began"]),
        quantities.clock(found["ended_at"]) if found["ended_at"] else say("incident.open"),
        quantities.UNKNOWN if found["worst"] is None else f"{found['worst']:.6g}",
        found["acknowledged_by"] or quantities.UNKNOWN,
    )


@command("ack", alert)
@click.argument("name", metavar="ALERT")
@option("--note", default="", says="ack-note")
@json_option
def acknowledge(name: str, note: str, fields: tuple[str, ...] | None) -> None:
    """Say that one has seen it."""
    with client() as api:
        seen = api.acknowledge_alert(name, note)
    if fields is not None:
        return write_json(seen, fields)
    out(say("alert.acknowledged", alert=seen["id"], user=seen["acknowledged_by"]))


@command("mute", alert)
@click.argument("name", metavar="RULE")
@option("--until", type=MOMENT, says="mute-until")
@json_option
def mute(name: str, until: str | None, fields: tuple[str, ...] | None) -> None:
    """Tell nobody of a rule until a moment; without one, tell again."""
    with client() as api:
        muted = api.mute_alert_rule(name, until)
    if fields is not None:
        return write_json(muted, fields)
    note(
        say("alert.muted-until", rule=name, until=quantities.moment(until)) if until else say("alert.heard", rule=name)
    )


@command("rules", alert)
@json_option
def list_rules(fields: tuple[str, ...] | None) -> None:
    """Every rule, each a sentence."""
    with client() as api:
        rows = api.alert_rules()
    if fields is not None:
        return write_json(rows, fields)
    for row in rows:
        out(f"{row['name']}  {sentence(row)}")


def sentence(row: dict[str, Any]) -> str:
    """A rule as one reads it out."""
    scope = " ".join(f"{name}={value}" for name, value in row["scope"].items() if value) or say("alert.everywhere")
    told = ", ".join(row["recipients"]) or say("alert.nobody")
    if row["watches"].startswith("fact:"):
        return say("alert.fact-sentence", fact=row["watches"].removeprefix("fact:"), scope=scope, told=told)
    side = say("alert.above") if row["comparison"] == "above" else say("alert.below")
    lasting = quantities.iso_duration(row["lasting"])
    words = {"watches": row["watches"], "side": side, "threshold": f"{row['threshold']:g}", "lasting": lasting}
    return say("alert.sentence", **words, scope=scope, told=told)


@command("set", alert)
@click.argument("name")
@option("--watch", "watches", required=True, says="watches")
@option("--above", type=float, says="above")
@option("--below", type=float, says="below")
@option("--for", "for_s", type=DURATION, default="0s", says="lasting")
@option("--project", type=PROJECT, says="rule-project")
@option("--job", type=JOB, says="alert-job")
@option("--node", says="rule-node")
@option("--tell", "recipients", multiple=True, says="tell")
@option("--dry-run", is_flag=True, says="rule-dry-run")
@json_option
def set_rule(fields: tuple[str, ...] | None, name: str, dry_run: bool, **given: Any) -> None:
    """Set a rule, and say how often it would have fired last week."""
    body = {key: value for key, value in given.items() if value is not None} | {"recipients": list(given["recipients"])}
    with client() as api:
        answer = api.rehearse_alert_rule(body) if dry_run else api.set_alert_rule(name, body)
    if fields is not None:
        return write_json(answer, fields)
    out(sentence(answer["rule"]))
    count = answer["fired_last_week"]
    told = answer["messages_last_week"]
    note(say("alert.no-history") if count is None else say("alert.would-have-fired", count=count, messages=told))


@command("rm", alert)
@click.argument("name")
def remove_rule(name: str) -> None:
    """Take a rule away; what it fired stays on record."""
    with client() as api:
        api.remove_alert_rule(name)
    note(say("alert.removed", name=name))


@command("ls", channel)
@json_option
def list_channels(fields: tuple[str, ...] | None) -> None:
    """Channels, without their secrets."""
    with client() as api:
        rows = api.channels()
    if fields is not None:
        return write_json(rows, fields)
    titles = [say(f"column.{name}") for name in ("name", "kind", "owner", "waiting", "why")]
    shown = [(row["name"], row["kind"], row["author"], str(row["waiting"]), row["error"] or "") for row in rows]
    table(titles, shown, right=[titles[3]])


@command("set", channel)
@click.argument("name")
@option("--url", says="channel-url")
@option("--language", type=click.Choice(["zh", "en"]), default="zh", says="channel-language")
@option("--personal", is_flag=True, says="channel-personal")
@json_option
def set_channel(fields: tuple[str, ...] | None, name: str, url: str | None, language: str, personal: bool) -> None:
    """Set a way to people. Without --url it is asked for and not shown, or read from a pipe: it is a secret."""
    asked = url or (click.prompt("URL", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline())
    with client() as api:
        made = api.set_channel(name, asked.strip(), language=language, personal=personal)
    if fields is not None:
        return write_json(made, fields)
    note(say("alert.channel", name=name, kind=made["kind"]))


@command("test", channel)
@click.argument("name")
def test_channel(name: str) -> None:
    """Send a line through it at once."""
    with client() as api:
        api.test_channel(name)
    note(say("alert.channel-works", name=name))


@command("rm", channel)
@click.argument("name")
def remove_channel(name: str) -> None:
    """Take a channel away."""
    with client() as api:
        api.remove_channel(name)
    note(say("alert.removed", name=name))


@command("follow")
@click.argument("job", type=JOB)
@option("--channel", "through", says="follow-channel")
@option("--stop", is_flag=True, says="unfollow")
def follow(job: str, through: str | None, stop: bool) -> None:
    """Be told when a job starts, stalls and ends."""
    if (through is None) == (not stop):
        raise click.UsageError(say("alert.channel-or-stop"))
    with client() as api:
        if through is None:
            api.unfollow_job(job)
        else:
            api.follow_job(job, through)
    note(say("alert.unfollowed", job=job) if through is None else say("alert.followed", job=job, channel=through))
