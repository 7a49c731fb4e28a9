"""Templates and data sets."""

import json
import tomllib
from pathlib import Path
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import TEMPLATE
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import language, say
from headway.cli.screen import note, out, pairs, table, write_json
from headway.cli.session import client
from headway.domain.errors import PlatformError

Fields = tuple[str, ...] | None

template = noun("template")
dataset = noun("dataset")


@command("ls", template)
@json_option
def list_templates(fields: Fields) -> None:
    """Every template's newest version."""
    with client() as api:
        rows = api.templates()
    if fields is not None:
        return write_json(rows, fields)
    titles = [say(f"column.{name}") for name in ("name", "kind", "about")]
    shown = [
        (f"{row['name']}@{row['version']}", row["content"].get("kind", "training"), _about(row["content"]))
        for row in rows
    ]
    table(titles, shown)


@command("show", template)
@click.argument("name", type=TEMPLATE)
@json_option
def show_template(name: str, fields: Fields) -> None:
    """A template's blanks, with their defaults."""
    with client() as api:
        rows = api.templates()
    found = next((row for row in rows if name in (row["name"], f"{row['name']}@{row['version']}")), None)
    if found is None:
        raise PlatformError("not-found", what="template", value=name, near=", ".join(row["name"] for row in rows))
    if fields is not None:
        return write_json(found, fields)
    content = found["content"]
    out(f"{found['name']}@{found['version']}  {_about(content)}")
    pairs(
        [
            (say("column.kind"), content.get("kind", "training")),
            (say("column.command"), " ".join(content["command"])),
            (say("column.resources"), " ".join(f"{key}={value}" for key, value in content["resources"].items()))
            if content.get("resources")
            else ("", ""),
        ]
    )
    out()
    titles = [say(f"column.{name}") for name in ("parameter", "type", "default", "about")]
    table(titles, [_parameter(name, blank) for name, blank in content.get("parameters", {}).items()])


@command("add", template)
@click.argument("file", type=click.Path())
@json_option
def add_template(file: str, fields: Fields) -> None:
    """Add a template from a file, or its next version."""
    try:
        content = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise click.UsageError(say("error.file", path=file, detail=problem)) from None
    with client() as api:
        made = api.add_template(content)
    if fields is not None:
        return write_json(made, fields)
    out(f"{made['name']}@{made['version']}")
    note(say("done.template", template=made["name"], version=made["version"]))


def _about(content: dict[str, Any]) -> str:
    words = content.get("description", {})
    return str(words.get(language()) or words.get("en") or "")


def _parameter(name: str, blank: dict[str, Any]) -> tuple[str, ...]:
    default = blank.get("default")
    shown = say("template.required") if default is None else json.dumps(default, ensure_ascii=False)
    words = blank.get("help", {})
    return name, blank.get("type", "string"), shown, str(words.get(language()) or words.get("en") or "")


@command("ls", dataset)
@json_option
def list_datasets(fields: Fields) -> None:
    """Every data version."""
    with client() as api:
        rows = api.datasets()
    if fields is not None:
        return write_json(rows, fields)
    titles = [say(f"column.{name}") for name in ("dataset", "files", "size", "digest", "by")]
    titles += [say("column.created", zone=quantities.zone()), say("column.path")]
    shown = [
        (
            f"{row['name']}@{row['number']}",
            quantities.whole(row["files"]),
            quantities.size(row["bytes"]),
            quantities.short(row["digest"]),
            row["created_by"],
            quantities.clock(row["created_at"]),
            row["path"],
        )
        for row in rows
    ]
    table(titles, shown, right=titles[1:3])


@command("register", dataset)
@click.argument("name")
@click.argument("path", type=click.Path())
@option("--note", "remark", default="", says="note")
@json_option
def register_dataset(name: str, path: str, remark: str, fields: Fields) -> None:
    """Register a folder as a data set's next version."""
    with client() as api:
        made = api.register_dataset(name, str(Path(path).absolute()), remark)
    if fields is not None:
        return write_json(made, fields)
    out(f"{made['name']}@{made['number']}")
    size, files = quantities.size(made["bytes"]), quantities.whole(made["files"])
    note(say("done.dataset", dataset=f"{made['name']}@{made['number']}", files=files, size=size))
