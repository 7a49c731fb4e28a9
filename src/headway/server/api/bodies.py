"""What people send. An unknown key is refused: a misspelt wish must not be ignored."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from headway.domain.job import Priority
from headway.server.access import Role

Text = Annotated[str, Field(min_length=1, max_length=4096)]
Short = Annotated[str, Field(min_length=1, max_length=256)]


class Body(BaseModel):
    """The form of every request body."""

    model_config = ConfigDict(extra="forbid")


class LogIn(Body):
    user: Short
    password: Short


class NewDepartment(Body):
    name: Short


class NewProject(Body):
    name: Short
    department: Short


class NewQuota(Body):
    devices: int = Field(le=1_000_000)


class NewUser(Body):
    name: Short
    password: Annotated[str, Field(min_length=8, max_length=256)] | None = None
    unix_name: Short | None = None


class NewRole(Body):
    role: Role
    project: Short | None = None


class NewToken(Body):
    days: int = Field(default=90, ge=1, le=3650)


class NewTemplate(Body):
    content: dict[str, Any]


class NewDataset(Body):
    name: Short
    path: Text
    note: str = Field(default="", max_length=4096)


class NewJob(Body):
    name: Short
    project: Short
    template: Short
    parameters: dict[str, str | int | float | bool] = {}
    resources: dict[str, Any] = {}
    env: dict[str, str] = {}
    priority: Priority | None = None
    limit_s: float | None = Field(default=None, gt=0)
    source: Text | None = None
    workdir: Text | None = None
    commit: Short | None = None


class StopJob(Body):
    reason: Short = "user"


class NewDrill(Body):
    rank: int


class NewCordon(Body):
    reason: Annotated[str, Field(min_length=1, max_length=200)]


class NewModel(Body):
    name: Short
    job: Short
    step: int | None = Field(default=None, ge=0)


class NewService(Body):
    name: Short
    project: Short
    version: Short
    template: Short | None = None


class NewSplit(Body):
    shares: dict[str, int]
    reason: str = Field(default="", max_length=1024)


class Rollback(Body):
    reason: str = Field(default="", max_length=1024)
