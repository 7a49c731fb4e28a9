"""Templates, data sets and model versions."""

from typing import Annotated, Any

from fastapi import APIRouter, Path

from headway.domain.version import DatasetVersion, ModelVersion
from headway.server.access import Verb
from headway.server.api.asking import AskerHere
from headway.server.api.bodies import NewDataset, NewModel, NewTemplate
from headway.server.api.jobs import find
from headway.server.api.paging import PageHere
from headway.server.operations.assets import assets as operations
from headway.server.operations.assets.models import find_model, readable
from headway.store import assets, templates

router = APIRouter(tags=["assets"])


@router.get("/templates")
def list_templates(asker: AskerHere, page: PageHere) -> list[dict[str, Any]]:
    """Every template's newest version."""
    asker.check(Verb.READ, "template")
    with asker.platform.database.read() as c:
        rows = [templates.get(c, name) for name in page.of(templates.names(c), lambda name: (name,))]
    return [{"name": row.name, "version": row.version, "content": row.content} for row in rows if row]


@router.post("/templates", status_code=201)
def add_template(body: NewTemplate, asker: AskerHere) -> dict[str, Any]:
    """Add a template, or its next version."""
    asker.check(Verb.CREATE, "template")
    with asker.platform.database.write() as c:
        template, number = operations.add_template(c, asker.change(), body.content)
    return {"name": template.name, "version": number, "content": body.content}


@router.get("/datasets")
def list_datasets(asker: AskerHere, page: PageHere) -> list[DatasetVersion]:
    asker.check(Verb.READ, "dataset")
    with asker.platform.database.read() as c:
        return page.of(assets.datasets(c), lambda version: (version.name, version.number))


@router.post("/datasets", status_code=201)
def register_dataset(body: NewDataset, asker: AskerHere) -> DatasetVersion:
    """Register a folder as a data set's next version."""
    asker.check(Verb.CREATE, "dataset")
    return operations.register_dataset(asker.platform, asker.change(), body.name, body.path, body.note)


@router.get("/models")
def list_models(asker: AskerHere, page: PageHere, name: str | None = None) -> list[ModelVersion]:
    asker.check(Verb.READ, "model")
    with asker.platform.database.read() as c:
        found = readable(assets.models(c, name=name), asker.projects)
    return page.of(found, lambda version: (version.name, version.number))


@router.get("/models/{name}/{number}")
def show_model(name: str, number: Annotated[int, Path(ge=1, lt=10**9)], asker: AskerHere) -> ModelVersion:
    """One version with its lineage."""
    with asker.platform.database.read() as c:
        return find_model(c, asker.name, name, number)


@router.post("/models", status_code=201)
def register_model(body: NewModel, asker: AskerHere) -> ModelVersion:
    """Register a job's verified checkpoint (its newest, or that of a step) as a model's next version."""
    with asker.platform.database.read() as c:
        job = find(c, asker, body.job)
    asker.check(Verb.CREATE, "model", job.spec.project)
    return operations.register_model(asker.platform, asker.change(), body.name, job, body.step)
