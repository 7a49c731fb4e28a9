"""The quota tree as text: the TOML table that people edit, read and printed by pure functions.

`read_tree(print_tree(tree)) == tree`. Whether a tree makes sense is `quota.check_tree`'s to say.
"""

import tomllib
from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.parse import MOST, known_keys, positive, text
from headway.domain.quota import Branch, Budget, Entry, QuotaTree

ANY = "any"
_FIELDS = ("guaranteed", "borrow_ceiling", "lend_ceiling", "weight", "per_person", "budget")


def read_tree(toml: str) -> QuotaTree:
    """The tree of a TOML text with tables `departments.NAME` and `projects.NAME`, each with `cards.TYPE` entries.

    Raises `quota-unreadable`, `unknown-field`, `missing-field`, `invalid-field`, `invalid-name` or `quota-name-twice`.
    """
    try:
        table = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise PlatformError("quota-unreadable", form="TOML", detail=str(error)) from None
    return from_table(table)


def from_table(table: Mapping[str, Any]) -> QuotaTree:
    """The tree of a table already parsed (TOML, YAML or JSON alike)."""
    known_keys("quota", table, ("departments", "projects"))
    branches: dict[str, Branch] = {}
    for section in ("departments", "projects"):
        part = table.get(section, {})
        known_keys(section, part, _names(part))
        for name, content in part.items():
            if name in branches:
                raise PlatformError("quota-name-twice", branch=name)
            branches[name] = _branch(section, check_name(section, name), content)
    return QuotaTree(branches)


def print_tree(tree: QuotaTree) -> str:
    """The tree as TOML, departments first, by name."""
    return "\n\n".join(_printed(branch) for branch in sorted(tree.branches.values(), key=_place)) + "\n"


def differences(before: QuotaTree, after: QuotaTree) -> tuple[str, ...]:
    """What changed, one line a number: `projects.vision.cards.h200.guaranteed: 8 → 16`."""
    old, new = dict(_flat(before)), dict(_flat(after))
    keys = sorted(old.keys() | new.keys())
    return tuple(f"{k}: {old.get(k, '—')} → {new.get(k, '—')}" for k in keys if old.get(k) != new.get(k))


def _branch(section: str, name: str, content: Mapping[str, Any]) -> Branch:
    where = f"{section}.{name}"
    is_project = section == "projects"
    parent_key = "department" if is_project else "parent"
    known_keys(where, content, (parent_key, "cards"))
    parent = text(f"{where}.{parent_key}", content[parent_key]) if parent_key in content else None
    cards = content.get("cards", {})
    known_keys(f"{where}.cards", cards, _names(cards))
    entries = {device_type: _entry(f"{where}.cards.{device_type}", raw) for device_type, raw in cards.items()}
    return Branch(name, parent, is_project, entries)


def _entry(where: str, raw: Mapping[str, Any]) -> Entry:
    known_keys(where, raw, _FIELDS)
    budget = raw.get("budget", {})
    known_keys(f"{where}.budget", budget, ("soft", "hard"))
    return Entry(
        guaranteed=positive(f"{where}.guaranteed", raw.get("guaranteed", 0), least=0),
        borrow_ceiling=_ceiling(f"{where}.borrow_ceiling", raw.get("borrow_ceiling", 0)),
        lend_ceiling=_ceiling(f"{where}.lend_ceiling", raw.get("lend_ceiling", ANY)),
        weight=_number(f"{where}.weight", raw.get("weight", 1.0)) or 0.0,
        per_person=_ceiling(f"{where}.per_person", raw.get("per_person", ANY)),
        budget=Budget(*(_number(f"{where}.budget.{key}", budget.get(key)) for key in ("soft", "hard"))),
    )


def _names(table: object) -> list[str]:
    return list(table) if isinstance(table, Mapping) else []


def _ceiling(field: str, value: object) -> int | None:
    if value == ANY:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule=f"0 … {MOST} | {ANY}")
    return value


def _number(field: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="rule-number")
    return float(value)


def _place(branch: Branch) -> tuple[bool, str]:
    return branch.is_project, branch.name


def _printed(branch: Branch) -> str:
    section, parent_key = ("projects", "department") if branch.is_project else ("departments", "parent")
    lines = [f"[{section}.{_key(branch.name)}]"]
    if branch.parent is not None:
        lines.append(f"{parent_key} = {dumps(branch.parent, ensure_ascii=False)}")
    for device_type, entry in sorted(branch.entries.items()):
        fields = ", ".join(f"{name} = {value}" for name, value in _values(entry))
        lines.append(f"cards.{_key(device_type)} = {{ {fields} }}")
    return "\n".join(lines)


def _values(entry: Entry) -> Iterator[tuple[str, str]]:
    """The numbers of an entry that are not the default, the guarantee always."""
    default = Entry()
    yield "guaranteed", str(entry.guaranteed)
    for name in ("borrow_ceiling", "lend_ceiling", "weight", "per_person"):
        value = getattr(entry, name)
        if value != getattr(default, name):
            yield name, f'"{ANY}"' if value is None else repr(value)
    if entry.budget != default.budget:
        parts = {"soft": entry.budget.soft, "hard": entry.budget.hard}
        yield "budget", "{ " + ", ".join(f"{key} = {v!r}" for key, v in parts.items() if v is not None) + " }"


def _flat(tree: QuotaTree) -> Iterator[tuple[str, str]]:
    for branch in tree.branches.values():
        where = f"{'projects' if branch.is_project else 'departments'}.{branch.name}"
        yield where, branch.parent or "top"
        for device_type, entry in branch.entries.items():
            for name, value in _values(entry):
                yield f"{where}.cards.{device_type}.{name}", value


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else dumps(name)
