"""The quota table in a file: TOML, or YAML (hence JSON too), as people keep it. What it means is the domain's to say.

YAML is read with care: no object is ever constructed, a key said twice is refused instead of the last one winning, and
neither aliases nor depth can blow the table up.
"""

from pathlib import Path
from typing import Any, Literal

import yaml

from headway.domain.errors import PlatformError, say
from headway.domain.quota import QuotaTree
from headway.domain.quota_table import from_table, read_tree

Form = Literal["toml", "yaml"]
DEPTH = 12
SUFFIXES: dict[str, Form] = {".yaml": "yaml", ".yml": "yaml", ".json": "yaml"}


def read(text: str, form: Form) -> QuotaTree:
    """The tree of a text. Raises `quota-unreadable`, and what `quota_table.read_tree` raises."""
    return read_tree(text) if form == "toml" else from_table(_table(text))


def read_path(path: Path) -> QuotaTree:
    """The tree of a file, by its suffix."""
    return read(path.read_text(encoding="utf-8"), SUFFIXES.get(path.suffix.lower(), "toml"))


def _table(text: str) -> dict[str, Any]:
    try:
        _check_shape(text)
        table = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as problem:
        raise _unreadable(_where(problem)) from None
    except (yaml.YAMLError, ValueError) as problem:
        raise _unreadable(" ".join(str(problem).split())) from None
    if table is None:
        return {}
    if not isinstance(table, dict):
        raise PlatformError("invalid-field", field="quota", value=str(table)[:80], rule="rule-table")
    return table


def _check_shape(text: str) -> None:
    """Before anything is built, which costs what the text says it costs."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH:
            raise _unreadable(say("nested", line=event.start_mark.line + 1, limit=DEPTH))
        if isinstance(event, yaml.AliasEvent):
            raise _unreadable(say("no-aliases", line=event.start_mark.line + 1, name=event.anchor))


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    """Safe, and strict about keys."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Raise ValueError for a key that is no text or comes twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if key.tag != "tag:yaml.org,2002:str":
                raise ValueError(say("key-no-text", line=line, name=name))
            if name in seen:
                raise ValueError(say("key-twice", line=line, name=name))
            seen.add(name)
        found: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return found


def _where(problem: yaml.MarkedYAMLError) -> str:
    """What is wrong and where; what the parser was in the middle of helps nobody."""
    mark = problem.problem_mark or problem.context_mark
    said = " ".join(str(problem.problem or problem.context).split())
    return say("yaml-place", line=mark.line + 1, column=mark.column + 1, problem=said) if mark else said


def _unreadable(detail: str) -> PlatformError:
    return PlatformError("quota-unreadable", form="YAML", detail=detail)
