"""Served names: deploy a version, move its share of the requests, go back."""

from typing import TYPE_CHECKING, Any

import click

from headway.cli import exits, quantities
from headway.cli.arguments import DURATION, MODEL, PROJECT, SERVICE, SETTING, TEMPLATE
from headway.cli.command import command, json_option, noun, option
from headway.cli.follow import TERMINAL, detached, until
from headway.cli.language import say
from headway.cli.screen import note, out, pairs, state, table, write_json
from headway.cli.session import client, confirm
from headway.domain.errors import PlatformError

if TYPE_CHECKING:
    from headway.sdk.client import Client

Row = dict[str, Any]
Fields = tuple[str, ...] | None

service = noun("service")


@command("ls", service)
@json_option
def list_services(fields: Fields) -> None:
    """Every service."""
    with client() as api:
        rows = api.services()
    if fields is not None:
        return write_json(rows, fields)
    titles = [say(f"column.{name}") for name in ("service", "split", "live", "replicas")] + ["URL"]
    shown = [(_key(row), _split(row["split"]), _live(row), _replicas(row), row["url"]) for row in rows]
    table(titles, shown)


@command("show", service)
@click.argument("name", type=SERVICE)
@json_option
def show(name: str, fields: Fields) -> None:
    """One service with its replicas."""
    with client() as api:
        found = find(api, name)
    if fields is not None:
        return write_json(found, fields)
    out(_key(found))
    pairs([("URL", found["url"]), (say("column.split"), _split(found["split"])), (say("column.live"), _live(found))])
    out()
    titles = [say(f"column.{name}") for name in ("version", "state", "job", "endpoint")]
    shown = [
        (replica["version"], state(replica["state"]), replica["job"], replica["endpoint"] or quantities.UNKNOWN)
        for replica in found["replicas"]
    ]
    table(titles, shown)


@command("deploy", service)
@click.argument("name")
@click.argument("version", type=MODEL)
@option("--project", type=PROJECT, required=True, says="service-project")
@option("--template", type=TEMPLATE, says="service-template")
@option("--wait", is_flag=True, says="wait-ready")
@option("--timeout", type=DURATION)
@json_option
def deploy(name: str, version: str, project: str, template: str | None, fields: Fields, **waiting: Any) -> int:
    """Serve a model version; the first of a service gets all requests once ready."""
    with client() as api:
        made = api.deploy(name, project, version, template)
        note(say("service.deployed", service=_key(made), version=version))
        if waiting["wait"]:
            return _wait_ready(api, _place(made), version, waiting["timeout"], fields)
    _print(made, fields)
    return exits.DONE


def _wait_ready(api: "Client", place: tuple[str, str], version: str, timeout: float | None, fields: Fields) -> int:
    def mine(view: Row) -> Row:
        return next(replica for replica in reversed(view["replicas"]) if replica["version"] == version)

    job = str(mine(api.service(*place))["job"])

    def look() -> Row:
        return api.service(*place) | {"serving": api.job(job)}

    def is_over(view: Row) -> bool:
        ended = view["serving"]["job"]["state"] in TERMINAL
        ready = mine(view)["state"] == "ready" and (view["live"] or not _has_share(view, version))
        return ended or ready

    try:
        seen = until(look, is_over, timeout)
    except KeyboardInterrupt:
        return detached(job)
    if seen is None:
        note(say("follow.pending", job=job))
        return exits.PENDING
    if seen["serving"]["job"]["state"] in TERMINAL:
        note(say("service.failed", version=version, job=job))
        return exits.ENDED_BADLY
    note(say("service.ready", version=version, service=_key(seen)))
    seen.pop("serving")
    _print(seen, fields)
    return exits.DONE


@command("shift", service)
@click.argument("name", type=SERVICE)
@click.argument("shares", type=SETTING, nargs=-1, required=True, metavar="VERSION=PERCENT...")
@option("--reason", default="")
@option("--wait", is_flag=True, says="wait-live")
@option("--timeout", type=DURATION)
@json_option
def shift(name: str, shares: tuple[tuple[str, str], ...], reason: str, fields: Fields, **waiting: Any) -> int:
    """Change the shares of versions, in percent."""
    with client() as api:
        view = find(api, name)
        wanted = {full_version(view, version): _percent(version, share) for version, share in shares}
        split = api.shift(*_place(view), wanted, reason)
        return _after_split(api, view, split, fields, **waiting)


@command("rollback", service)
@click.argument("name", type=SERVICE)
@option("--reason", default="")
@option("--wait", is_flag=True, says="wait-live")
@option("--timeout", type=DURATION)
@json_option
def rollback(name: str, reason: str, fields: Fields, **waiting: Any) -> int:
    """Go back to the split before the present one."""
    with client() as api:
        view = find(api, name)
        split = api.roll_back(*_place(view), reason)
        return _after_split(api, view, split, fields, **waiting)


def _after_split(api: "Client", view: Row, split: Row, fields: Fields, *, wait: bool, timeout: float | None) -> int:
    note(say("service.shifted", service=_key(view), split=_split(split)))
    if wait:
        number = split["number"]

        def is_live(seen: Row) -> bool:
            return bool(seen["split"]["number"] > number or (seen["split"]["number"] == number and seen["live"]))

        if until(lambda: api.service(*_place(view)), is_live, timeout) is None:
            note(say("service.not-live", service=_key(view)))
            return exits.PENDING
        note(say("service.live", service=_key(view)))
    if fields is None:
        out(_split(split))
    else:
        write_json(split, fields)
    return exits.DONE


@command("history", service)
@click.argument("name", type=SERVICE)
@json_option
def history(name: str, fields: Fields) -> None:
    """What was live when, newest first."""
    with client() as api:
        rows = api.service_history(*_place(find(api, name)))
    if fields is not None:
        return write_json(rows, fields)
    titles = ["#", say("column.from", zone=quantities.zone()), say("column.split")]
    titles += [say("column.by"), say("column.reason")]
    shown = [
        (
            str(row["number"]),
            quantities.clock(row["at"]),
            _split(row),
            row["by"],
            _reason(row),
        )
        for row in rows
    ]
    table(titles, shown, right=["#"])


@command("stop", service)
@click.argument("name", type=SERVICE)
@option("--yes", "-y", is_flag=True)
@option("--no-input", is_flag=True)
@json_option
def stop(name: str, fields: Fields, **asks: bool) -> None:
    """Take a service off the gateway and stop its serving jobs."""
    with client() as api:
        view = find(api, name)
        confirm(say("service.sure", service=_key(view)), **asks)
        stopped = api.stop_service(*_place(view))
    note(say("service.stopped", service=_key(view)))
    if fields is not None:
        write_json(stopped, fields)


def _reason(split: Row) -> str:
    back = say("service.undoes", number=split["rollback_of"]) if split["rollback_of"] else ""
    return " · ".join(part for part in (back, split["reason"]) if part) or quantities.UNKNOWN


def find(api: "Client", text: str) -> Row:
    """A service by `project/name`, or by a name that only one project has. Raises `not-found`, `ambiguous`."""
    project, slash, name = text.partition("/")
    if slash:
        return api.service(project, name)
    rows = api.services()
    fitting = [row for row in rows if row["service"]["name"] == text]
    running = [row for row in fitting if row["service"]["stopped_at"] is None] or fitting
    near = ", ".join(_key(row) for row in (running or rows)) or None
    if not running:
        raise PlatformError("not-found", what="service", value=text, near=near)
    if len(running) > 1:
        raise PlatformError("ambiguous", what="service", value=text, near=near)
    return running[0]


def full_version(view: Row, text: str) -> str:
    """`name@2` as it is; `2` as the version of that number which the service has."""
    if "@" in text:
        return text
    known = dict.fromkeys(replica["version"] for replica in view["replicas"])
    fitting = [version for version in known if version.rpartition("@")[2] == text]
    if len(fitting) != 1:
        code = "ambiguous" if fitting else "not-found"
        raise PlatformError(code, what="version", value=text, near=", ".join(fitting or known) or None)
    return str(fitting[0])


def _percent(version: str, text: str) -> int:
    if not text.isdecimal():
        raise click.UsageError(say("error.percent", version=version, value=text))
    return int(text)


def _place(view: Row) -> tuple[str, str]:
    return view["service"]["project"], view["service"]["name"]


def _key(view: Row) -> str:
    return "/".join(_place(view))


def _split(split: Row | None) -> str:
    if split is None:
        return quantities.UNKNOWN
    return "  ".join(f"{share['version']} {share['weight']}%" for share in split["shares"])


def _has_share(view: Row, version: str) -> bool:
    return any(share["version"] == version and share["weight"] for share in (view["split"] or {}).get("shares", ()))


def _live(view: Row) -> str:
    if view["service"]["stopped_at"]:
        return say("state.stopped")
    return say("service.yes") if view["live"] else say("service.not-yet")


def _replicas(view: Row) -> str:
    return "  ".join(f"{r['version']} {state(r['state'])}" for r in view["replicas"]) or quantities.UNKNOWN


def _print(view: Row, fields: Fields) -> None:
    if fields is None:
        out(view["url"])
    else:
        write_json(view, fields)
