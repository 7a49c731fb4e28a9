"""Column types: how moments, spans, choices and nested values are written in both databases.

Each type decides one encoding and nothing else. A value read back equals the value written.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json
from sqlalchemy import TIMESTAMP, BigInteger, Dialect, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

ISO_LENGTH = 32


def as_json(value: Any) -> str:
    """A frozen value as JSON text. NaN, a loss that people must see, has no literal there: it travels as a string."""
    return to_json(value, inf_nan_mode="strings").decode()


class Moment(TypeDecorator[datetime]):
    """An aware datetime, kept in UTC. SQLite: ISO text of one width, so that text order is time order."""

    impl = TIMESTAMP(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(String(ISO_LENGTH) if dialect.name == "sqlite" else TIMESTAMP(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"times are aware UTC, not {value!r}")
        moment = value.astimezone(UTC)
        return moment.isoformat(timespec="microseconds") if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return datetime.fromisoformat(value) if dialect.name == "sqlite" else value.astimezone(UTC)


class Span(TypeDecorator[timedelta]):
    """A duration as integer microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, _dialect: Dialect) -> int | None:
        return None if value is None else value // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, _dialect: Dialect) -> timedelta | None:
        return None if value is None else timedelta(microseconds=value)


class Choice(TypeDecorator[StrEnum]):
    """One value of a StrEnum, as its text."""

    impl = String
    cache_ok = True

    def __init__(self, of: type[StrEnum]) -> None:
        super().__init__()
        self.of = of

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        return None if value is None else self.of(value).value

    def process_result_value(self, value: str | None, _dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.of(value)


class Value(TypeDecorator[Any]):
    """A nested frozen value as JSON text, checked when read."""

    impl = Text
    cache_ok = True

    def __init__(self, of: Any) -> None:
        super().__init__()
        self.of = of
        self._adapter: TypeAdapter[Any] = TypeAdapter(of)

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        return None if value is None else as_json(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        return None if value is None else self._adapter.validate_json(value)


class Told(TypeDecorator[str]):
    """Text told by strangers: PostgreSQL refuses NUL, so it becomes U+FFFD in both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        return None if value is None else value.replace("\x00", "�")
