"""The directory: departments, projects, quotas."""

from dataclasses import asdict, dataclass

from fastapi import APIRouter

from headway.domain.errors import PlatformError
from headway.domain.quota import Department, Project, Quota
from headway.server.access import Verb
from headway.server.api.asking import AskerHere, OnceHere
from headway.server.api.beyond import SetView, of_cuts, of_number
from headway.server.api.bodies import NewDepartment, NewProject, NewQuota
from headway.server.api.paging import PageHere
from headway.server.api.showing import LanguageHere
from headway.server.operations.people import directory
from headway.server.operations.queue.quota import set_number
from headway.store import quotas

router = APIRouter(tags=["directory"])


@dataclass(frozen=True, slots=True)
class QuotaView:
    """A quota, and how many of its devices the project's attempts have now."""

    project: str
    device_type: str
    devices: int
    used: int


@router.get("/departments")
def list_departments(asker: AskerHere, page: PageHere) -> list[Department]:
    asker.check(Verb.READ, "department")
    with asker.platform.database.read() as c:
        return page.of(quotas.departments(c), lambda department: (department.name,))


@router.post("/departments", status_code=201)
def create_department(body: NewDepartment, asker: AskerHere, once: OnceHere) -> Department:
    asker.check(Verb.CREATE, "department")
    return once(body, Department, lambda c: directory.create_department(c, asker.change(), body.name))


@router.get("/projects")
def list_projects(asker: AskerHere, page: PageHere) -> list[Project]:
    asker.check(Verb.READ, "project")
    with asker.platform.database.read() as c:
        return page.of(quotas.projects(c), lambda project: (project.name,))


@router.post("/projects", status_code=201)
def create_project(body: NewProject, asker: AskerHere, once: OnceHere) -> Project:
    asker.check(Verb.CREATE, "project")
    return once(body, Project, lambda c: directory.create_project(c, asker.change(), body.name, body.department))


@router.get("/quotas")
def list_quotas(asker: AskerHere, page: PageHere, project: str | None = None) -> list[QuotaView]:
    """The quota table, with what is taken now: every member may read all of it."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        used = quotas.used(c)
        promised = quotas.quotas(c, asker.platform.clock.now(), project)
    return [
        QuotaView(quota.project, quota.device_type, quota.devices, used.get((quota.project, quota.device_type), 0))
        for quota in page.of(promised, lambda quota: (quota.project, quota.device_type))
    ]


@router.put("/projects/{project}/quotas/{device_type}")
def set_quota(project: str, device_type: str, body: NewQuota, asker: AskerHere, language: LanguageHere) -> SetView:
    asker.check(Verb.CHANGE, "quota number")
    if asker.platform.settings.two_for_quota:
        raise PlatformError("quota-approval-needed")
    with asker.platform.database.write() as c:
        quota = Quota(project, device_type, body.devices)
        change = asker.change()
        cuts = of_cuts(c, {(project, device_type): body.devices}, change.at, language)
        set_number(c, change, quota)
        warnings = of_number(c, quota, language) + cuts
    asker.platform.wake("schedule")
    return SetView(**asdict(quota), warnings=warnings)
