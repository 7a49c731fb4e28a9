"""Reads what a pickle says without doing what it asks: every class and function in it becomes a thing that only keeps.

A pickle is a program. Here it can build lists, dicts, numbers and texts, and nothing it names is looked up or called.
"""

from __future__ import annotations

import io
import pickle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Thing:
    """Stands for an object of any class: keeps what it was given. `state`: what BUILD or its constructor gave it."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.state: Any = named or given

    def __new__(cls, *_given: Any, **_named: Any) -> Thing:
        """Constructor arguments also come without `__init__`."""
        thing = super().__new__(cls)
        thing.state = _given
        thing.items = {}
        return thing

    items: dict[Any, Any]

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items[key] = value

    def __call__(self, *given: Any) -> Thing:
        return Thing(*given)

    def append(self, _value: Any) -> None:
        """A list of some class: what is in it is not needed."""

    def extend(self, _values: Any) -> None:
        """As `append`."""

    def get(self, name: str) -> Any:
        """A field by name, of an object or of a mapping; None where there is none."""
        held = self.state if isinstance(self.state, dict) else {}
        return held.get(name, self.items.get(name))


class _Inert(pickle.Unpickler):
    def find_class(self, _module: str, _name: str) -> Any:
        return Thing

    def persistent_load(self, _pid: Any) -> Any:
        return None


def read(content: bytes) -> Any:
    """The value a pickle describes. Raises ValueError for what is none."""
    try:
        return _Inert(io.BytesIO(content)).load()
    except Exception as error:
        raise ValueError(f"not a pickle that can be read: {type(error).__name__}") from None


def number(value: Any, *names: str) -> int | None:
    """The first of these fields of a mapping or an object that is a whole number."""
    for name in names:
        found = value.get(name) if isinstance(value, (dict, Thing)) else None
        if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
            return found
    return None
