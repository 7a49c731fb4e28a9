"""Settings of the control plane, read from `HEADWAY_SERVER_*` and the command line, checked once at the start."""

import sys
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from headway.engines.protocol import LogLimits
from headway.metering.months import parse_zone
from headway.scheduler.policy import Policy


class Settings(BaseSettings):
    """Where the server lives, what it listens on, and the policies that a site sets."""

    model_config = SettingsConfigDict(env_prefix="HEADWAY_SERVER_", frozen=True, extra="forbid")

    home: Path = Field(default=Path("~/.headway"), validate_default=True)
    host: str = "127.0.0.1"
    port: int = Field(default=8470, ge=0, le=65535)
    gateway_port: int = Field(default=8471, ge=0, le=65535)
    database_url: str | None = None
    public_url: str | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_ca: Path | None = None
    engines: str = ""
    nodes: str = ""
    python: str = sys.executable
    timezone: str = "Asia/Shanghai"
    mode: Literal["development", "production"] = "development"
    body_limit_bytes: int = Field(default=1 << 20, gt=0)
    report_s: float = Field(default=1.0, gt=0, le=60)
    node_silent_s: float = Field(default=5.0, gt=0)
    agent_silent_s: float = Field(default=60.0, gt=0)
    token_kept_s: float = Field(default=1800.0, ge=0)
    hold_s: float = Field(default=300.0, ge=0)
    log_bytes_per_s: int = Field(default=1 << 20, gt=0)
    log_burst_bytes: int = Field(default=8 << 20, gt=0)
    log_max_bytes: int = Field(default=1 << 30, gt=0)
    readings_days: int = Field(default=30, gt=0)
    run_files_days: float = Field(default=7.0, ge=0)
    plan_every_s: float = Field(default=30.0, gt=0)
    half_life_s: float = Field(default=7 * 86400.0, gt=0)
    min_run_s: float = Field(default=1800.0, ge=0)
    reclaim: bool = True
    alertmanager_url: str | None = None
    grant_warning_s: float = Field(default=3 * 86400.0, ge=0)

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        return parse_zone(name).key

    @cached_property
    def url(self) -> str:
        """The database, by default one SQLite file in the home."""
        return self.database_url or f"sqlite:///{self.database_file}"

    @property
    def database_file(self) -> Path:
        """The file that is the database where no URL names another."""
        return self.home / "headway.db"

    @property
    def ca_file(self) -> str | None:
        """What agents and the command line trust: the authority, or the certificate itself when self-signed."""
        trusted = self.tls_ca or self.tls_certificate
        return None if trusted is None else str(trusted.absolute())

    @property
    def agents_url(self) -> str:
        """Where agents reach this server."""
        scheme = "https" if self.tls_certificate else "http"
        return self.public_url or f"{scheme}://{self.host}:{self.port}"

    @property
    def log_limits(self) -> LogLimits:
        return LogLimits(self.log_bytes_per_s, self.log_burst_bytes, self.log_max_bytes)

    @property
    def agent_silent(self) -> timedelta:
        return timedelta(seconds=self.agent_silent_s)

    @property
    def node_silent(self) -> timedelta:
        """After how much silence of its agent an engine's word that a node does not answer is believed."""
        return timedelta(seconds=self.node_silent_s)

    @property
    def token_kept(self) -> timedelta:
        """How long after its end an attempt's token still opens it, for words that come late."""
        return timedelta(seconds=self.token_kept_s)

    @property
    def hold(self) -> timedelta:
        return timedelta(seconds=self.hold_s)

    @property
    def zone(self) -> ZoneInfo:
        """Where months are cut."""
        return ZoneInfo(self.timezone)

    @cached_property
    def policy(self) -> Policy:
        """How this site wants its queue run."""
        half_life, min_run = timedelta(seconds=self.half_life_s), timedelta(seconds=self.min_run_s)
        return Policy(half_life=half_life, min_run=min_run, reclaim=self.reclaim)

    @property
    def grant_warning(self) -> timedelta:
        """How long before a grant expires its holder is warned."""
        return timedelta(seconds=self.grant_warning_s)

    @property
    def two_for_quota(self) -> bool:
        """Whether a change of quota takes two people, whoever asks."""
        return self.mode == "production"
