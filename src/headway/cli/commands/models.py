"""Registered weights: where they came from, and how two versions differ."""

from typing import TYPE_CHECKING, Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB, MODEL
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, pairs, table, write_json
from headway.cli.session import client
from headway.domain.errors import PlatformError

if TYPE_CHECKING:
    from headway.sdk.client import Client

Fields = tuple[str, ...] | None

model = noun("model")


@command("ls", model)
@click.argument("name", required=False)
@json_option
def list_models(name: str | None, fields: Fields) -> None:
    """Every model version."""
    with client() as api:
        rows = api.models(name)
    if fields is not None:
        return write_json(rows, fields)
    names = ("model", "project", "job", "step", "dataset", "size", "digest")
    titles = [say(f"column.{name}") for name in names] + [say("column.created", zone=quantities.zone())]
    table(titles, [_row(row) for row in rows], right=[titles[3], titles[5]])


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    lineage = row["lineage"]
    return (
        _reference(row),
        row["project"],
        lineage["job"],
        quantities.whole(lineage["step"]),
        lineage["dataset"] or quantities.UNKNOWN,
        quantities.size(row["bytes"]),
        quantities.short(row["digest"]),
        quantities.clock(row["created_at"]),
    )


@command("show", model)
@click.argument("version", type=MODEL, metavar="NAME@NUMBER")
@json_option
def show_model(version: str, fields: Fields) -> None:
    """One version with its lineage."""
    with client() as api:
        found = find(api, version)
    if fields is not None:
        return write_json(found, fields)
    out(_reference(found))
    pairs(flatten(found).items())


@command("register", model)
@click.argument("name")
@option("--job", type=JOB, required=True, says="model-job")
@option("--step", type=click.IntRange(0), says="model-step")
@json_option
def register(name: str, job: str, step: int | None, fields: Fields) -> None:
    """Register a job's verified checkpoint as a model's next version."""
    with client() as api:
        made = api.register_model(name, job, step)
    if fields is not None:
        return write_json(made, fields)
    out(_reference(made))
    note(say("done.model", model=_reference(made), job=made["lineage"]["job"], step=made["lineage"]["step"]))


@command("diff", model)
@click.argument("first", type=MODEL)
@click.argument("second", type=MODEL)
@json_option
def diff(first: str, second: str, fields: Fields) -> None:
    """What differs between two versions and their lineage."""
    with client() as api:
        one, other = flatten(find(api, first)), flatten(find(api, second))
    changed = [key for key in [*one, *(key for key in other if key not in one)] if one.get(key) != other.get(key)]
    if fields is not None:
        return write_json({key: [one.get(key), other.get(key)] for key in changed}, fields)
    table(
        [say("column.what"), first, second],
        [(key, one.get(key) or quantities.UNKNOWN, other.get(key) or quantities.UNKNOWN) for key in changed],
    )


def find(api: "Client", reference: str) -> dict[str, Any]:
    """A version by `name@number`; a bare name means its newest."""
    name, _, number = reference.partition("@")
    if number.isdecimal():
        return api.model(name, int(number))
    versions = api.models(name)
    if number or not versions:
        raise PlatformError("not-found", what="model version", value=reference, near=None)
    return max(versions, key=lambda version: int(version["number"]))


def flatten(value: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """A nested table as dotted names and texts."""
    flat: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            flat |= flatten(inner, f"{prefix}{name}.")
        elif inner is not None:
            flat[prefix + name] = str(inner)
    return flat


def _reference(row: dict[str, Any]) -> str:
    return f"{row['name']}@{row['number']}"
