"""Registered data and weights, each version kept as it was."""

from typing import Any

from sqlalchemy import Connection, Table, bindparam, func, select

from headway.domain.version import DatasetVersion, ModelVersion
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import InsertNew

_datasets, _models = schema.datasets, schema.models
_DATASET = Shape(DatasetVersion, _datasets)
_MODEL = Shape(ModelVersion, _models)
_NEW_DATASET = InsertNew(_datasets)
_NEW_MODEL = InsertNew(_models)


def _of_name(shape: Shape[Any], table: Table) -> Any:
    return shape.select().where(table.c.name == bindparam("name")).order_by(table.c.number.desc()).limit(1)


def _next(table: Table) -> Any:
    return select(func.coalesce(func.max(table.c.number), 0) + 1).where(table.c.name == bindparam("name"))


_ONE_DATASET, _NEXT_DATASET = _of_name(_DATASET, _datasets), _next(_datasets)
_ONE_MODEL, _NEXT_MODEL = _of_name(_MODEL, _models), _next(_models)
_DATASETS = _DATASET.select().order_by(_datasets.c.name, _datasets.c.number)
_MODELS = _MODEL.select().order_by(_models.c.name, _models.c.number)


def add_dataset(c: Connection, version: DatasetVersion) -> None:
    """Keep a version of a data set. Raises `already-exists`."""
    _NEW_DATASET.or_refuse(c, _DATASET.row(version), "dataset", version.reference)


def dataset(c: Connection, name: str, number: int | None = None) -> DatasetVersion | None:
    """One version of a data set, or its newest."""
    statement = _ONE_DATASET if number is None else _ONE_DATASET.where(_datasets.c.number == number)
    return _DATASET.one(c, statement, {"name": name})


def datasets(c: Connection) -> list[DatasetVersion]:
    """Every version of every data set, by name and number."""
    return _DATASET.all(c, _DATASETS)


def next_dataset_number(c: Connection, name: str) -> int:
    """The number for the next version of this name, from 1."""
    return int(c.execute(_NEXT_DATASET, {"name": name}).scalar_one())


def add_model(c: Connection, version: ModelVersion) -> None:
    """Keep a version of a model. Raises `already-exists`."""
    _NEW_MODEL.or_refuse(c, _MODEL.row(version), "model", version.reference)


def model(c: Connection, name: str, number: int | None = None) -> ModelVersion | None:
    """One version of a model, or its newest."""
    statement = _ONE_MODEL if number is None else _ONE_MODEL.where(_models.c.number == number)
    return _MODEL.one(c, statement, {"name": name})


def models(c: Connection, name: str | None = None, project: str | None = None) -> list[ModelVersion]:
    """Every version, or those of one name or project, by name and number."""
    statement = _MODELS
    if name is not None:
        statement = statement.where(_models.c.name == name)
    if project is not None:
        statement = statement.where(_models.c.project == project)
    return _MODEL.all(c, statement)


def next_model_number(c: Connection, name: str) -> int:
    """The number for the next version of this name, from 1."""
    return int(c.execute(_NEXT_MODEL, {"name": name}).scalar_one())
