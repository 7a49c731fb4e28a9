"""Engines: what each has and can do, and trying whether it is ready. Their options are told to nobody here."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from headway.domain.errors import PlatformError
from headway.engines.protocol import UnixUser
from headway.server.access import Verb
from headway.server.api.asking import AskerHere
from headway.server.api.showing import LanguageHere
from headway.server.operations.nodes.engine_checks import findings, mapped
from headway.server.platform import Platform
from headway.store import nodes

router = APIRouter(tags=["nodes"])


@dataclass(frozen=True, slots=True)
class EngineView:
    """An engine: what it can do besides running attempts, its nodes by state, its devices by type."""

    name: str
    can: list[str]
    nodes: dict[str, int]
    devices: dict[str, int]


@dataclass(frozen=True, slots=True)
class EngineFinding:
    """One thing that was tried; `ok` null: could not be found out. `hint`: what to do where it is not well."""

    code: str
    ok: bool | None
    sentence: str
    hint: str


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """What an engine was found to be at a moment."""

    engine: str
    at: datetime
    findings: list[EngineFinding]


@router.get("/engines")
def list_engines(asker: AskerHere) -> list[EngineView]:
    """Where attempts run."""
    asker.check(Verb.READ, "engine")
    with asker.platform.database.read() as c:
        known = nodes.all(c)
    found = []
    for name, engine in sorted(asker.platform.engines.items()):
        mine = [node for node in known if node.engine == name]
        devices = Counter[str]()
        for node in mine:
            devices[node.device_type] += node.devices
        states = Counter(node.state.value for node in mine)
        found.append(EngineView(name, sorted(engine.can), dict(states), dict(devices)))
    return found


@router.post("/engines/{engine}/check")
async def check_engine(engine: str, asker: AskerHere, language: LanguageHere) -> EngineCheck:
    """Try everything that jobs will need of an engine; may start a short command there. Raises `not-found`."""
    asker.check(Verb.CHANGE, "engine")
    platform = asker.platform
    opened = platform.engines.get(engine)
    if opened is None:
        raise PlatformError("not-found", what="engine", value=engine, near=", ".join(sorted(platform.engines)))
    found = await findings(opened, platform.url, await run_in_threadpool(_mapped, platform))
    told = [(one, PlatformError(one.code, **one.params)) for one in found]
    return EngineCheck(
        engine=engine,
        at=platform.clock.now(),
        findings=[EngineFinding(one.code, one.ok, words.text(language), words.hint(language)) for one, words in told],
    )


def _mapped(platform: Platform) -> list[UnixUser]:
    with platform.database.read() as c:
        return mapped(c)
