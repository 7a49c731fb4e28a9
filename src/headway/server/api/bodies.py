"""What people send. An unknown key is refused: a misspelt wish must not be ignored."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from headway.domain.drill import Kill
from headway.domain.errors import PlatformError
from headway.domain.job import Priority
from headway.server.access import Role

Text = Annotated[str, Field(min_length=1, max_length=4096)]
Short = Annotated[str, Field(min_length=1, max_length=256)]


def _absolute(path: str, at: ValidationInfo) -> str:
    """Relative to the server's own folder it would be somewhere nobody meant."""
    if not path.startswith("/"):
        raise PlatformError("invalid-field", field=at.field_name, value=path[:80], rule="rule-absolute-path")
    return path


Place = Annotated[Text, AfterValidator(_absolute)]
Moment = Annotated[AwareDatetime, Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(2100, 1, 1, tzinfo=UTC))]
"""With its zone; so near that whatever is reckoned from it is a time too."""


class Body(BaseModel):
    """The form of every request body."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_and_without_nul(cls, sent: object) -> object:
        """No program can be started with a NUL in its words, and PostgreSQL keeps none."""
        _refuse_nul("body", sent)
        if isinstance(sent, dict):
            for key in sent.keys() - cls.model_fields.keys():
                allowed = ", ".join(cls.model_fields)
                raise PlatformError("unknown-field", field=key, value=str(sent[key])[:80], allowed=allowed)
        return sent


def _refuse_nul(field: str, value: object) -> None:
    if isinstance(value, str) and "\0" in value:
        raise PlatformError("invalid-field", field=field, value=value[:80].replace("\0", "\\0"), rule="rule-no-nul")
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse_nul(field, key)
            _refuse_nul(str(key) if field == "body" else f"{field}.{key}", inner)
    elif isinstance(value, list):
        for inner in value:
            _refuse_nul(field, inner)


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


class NewQuotaVersion(Body):
    """A whole table: `content` as text in the `format` it says, or `table` as the same in JSON."""

    reason: Text
    format: Literal["toml", "yaml"] = "toml"
    content: Annotated[str, Field(max_length=1 << 19)] | None = None
    table: dict[str, Any] | None = None


class ApproveQuota(Body):
    in_force_from: Moment | None = None


class RejectQuota(Body):
    reason: Text


class WithdrawQuota(Body):
    reason: str = Field(default="", max_length=4096)


class NewGrant(Body):
    project: Short
    device_type: Short
    devices: int = Field(ge=1, le=1_000_000)
    ends: Moment
    begins: Moment | None = None
    reason: Text


class DecideGrant(Body):
    approve: bool
    note: str = Field(default="", max_length=4096)


class WithdrawGrant(Body):
    reason: str = Field(default="", max_length=4096)


class NewWindow(Body):
    """`project` None: nobody's, a maintenance window; empty `nodes` and no `device_type`: everywhere."""

    name: Short
    begins: Moment
    ends: Moment
    nodes: list[Short] = []
    device_type: Short | None = None
    project: Short | None = None
    reason: str = Field(default="", max_length=4096)


class NewUser(Body):
    name: Short
    password: Annotated[str, Field(min_length=8, max_length=256)] | None = None
    unix_name: Short | None = None


class NewPassword(Body):
    """`current`: the present password, which everybody but an administrator shows."""

    password: Annotated[str, Field(min_length=8, max_length=256)]
    current: Short | None = None


class NewRole(Body):
    role: Role
    project: Short | None = None


class NewToken(Body):
    days: int = Field(default=90, ge=1, le=3650)


class NewTemplate(Body):
    content: dict[str, Any]


class NewDataset(Body):
    name: Short
    path: Place
    note: str = Field(default="", max_length=4096)


class NewJob(Body):
    name: Short
    project: Short
    template: Short
    parameters: dict[str, str | int | float | bool] = {}
    resources: dict[str, Any] = {}
    env: dict[str, str] = {}
    checkpoint: dict[str, Any] = {}
    priority: Priority | None = None
    limit_s: float | None = Field(default=None, gt=0)
    source: Place | None = None
    workdir: Place | None = None
    commit: Short | None = None
    after: list[Short] = Field(default=[], max_length=100)
    after_ok: list[Short] = Field(default=[], max_length=100)
    protected: bool = False
    engines: list[Short] = []
    excluded: list[Short] = []
    not_before: Moment | None = None


class NewArray(NewJob):
    """`count` jobs alike, or one for each combination of the values of `sweep`; at most `cap` run at once."""

    count: int | None = Field(default=None, ge=1, le=1000)
    sweep: dict[str, list[str | int | float | bool]] | None = None
    cap: int | None = Field(default=None, ge=1, le=1000)


class Preempt(Body):
    reason: Short
    dry_run: bool = False


class StopJob(Body):
    """`reason` is told in the fact; what the platform itself stops for has words of its own."""

    reason: Short | None = None


class ResumeJob(Body):
    """What is to be different; what is left out stays as the job had it."""

    pool: Short | None = None
    nodes: int | None = None
    devices_per_node: int | None = None
    checkpoint: Text | None = None
    name: Short | None = None


class NewDrill(Body):
    """`rank`: that one, or the agent of its node; by default the last. `shadow`: a copy is broken in its stead."""

    kill: Kill = Kill.RANK
    rank: int | None = None
    at_step: int | None = Field(default=None, ge=1)
    shadow: bool = False


class NewCordon(Body):
    """`until`: it opens by itself then; `needs_retest`: only a passed retest opens it."""

    reason: Annotated[str, Field(min_length=1, max_length=200)]
    until: Moment | None = None
    needs_retest: bool = False


class NewRetest(Body):
    """`devices_per_node` None: all that the smallest of the nodes has."""

    nodes: Annotated[list[Short], Field(min_length=1, max_length=4096)]
    project: Short
    devices_per_node: int | None = Field(default=None, ge=1, le=1024)
    as_reference: bool = False
    seconds: int | None = Field(default=None, ge=1, le=3600)


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


class NewAlertRule(Body):
    """`watches`: a gauge, `reading:NAME` or `fact:KIND`; then one of `above` and `below`, and for how long."""

    watches: Short
    above: float | None = None
    below: float | None = None
    for_s: float = Field(default=0.0, ge=0, le=30 * 86400)
    project: Short | None = None
    job: Short | None = None
    node: Short | None = None
    recipients: list[Short] = []


class Muting(Body):
    """`until` None: be heard again."""

    until: Moment | None = None


class Acknowledgement(Body):
    note: str = Field(default="", max_length=4096)


class NewChannel(Body):
    """`url`: as Apprise writes it, as in `dingtalk://TOKEN` or `mailto://…`; it is a secret."""

    url: Text
    language: Literal["zh", "en"] = "zh"
    personal: bool = False


class Following(Body):
    channel: Short
