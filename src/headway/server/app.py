"""The HTTP application: routes under `/api/v1`, the console at `/`, errors as problems, the loops while it runs."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.types import ASGIApp

from headway import __version__
from headway.server import console, problems
from headway.server.api import (
    accounts,
    agent,
    alerts,
    assets,
    bundles,
    cadence,
    cases,
    directory,
    drills,
    dry_run,
    engines,
    granting,
    jobs,
    logs,
    metrics,
    monitoring,
    moving,
    node_agents,
    nodes,
    observing,
    queue,
    quota,
    reports,
    services,
    surroundings,
)
from headway.server.loops.all import all_loops
from headway.server.loops.runner import Loop, run_loops
from headway.server.platform import Platform

PREFIX = "/api/v1"
AREAS = (
    queue,
    dry_run,
    jobs,
    cadence,
    moving,
    drills,
    logs,
    bundles,
    accounts,
    directory,
    quota,
    granting,
    assets,
    services,
    nodes,
    engines,
    cases,
    alerts,
    surroundings,
    observing,
    reports,
    monitoring,
    node_agents,
    agent,
)


class Application(FastAPI):
    """FastAPI, with a body that declares too great a length refused in words before anything reads it."""

    def build_middleware_stack(self) -> ASGIApp:
        return problems.DeclaredTooLarge(
            super().build_middleware_stack(), self.state.platform.settings.body_limit_bytes
        )


def create_app(platform: Platform, *, with_loops: bool = True, more: Sequence[Loop] = ()) -> FastAPI:
    """The application of one platform; without loops it only answers (tests). `more`: loops beside the server's own."""

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        turning = asyncio.create_task(run_loops(platform, (*all_loops(), *more))) if with_loops else None
        yield
        if turning is not None:
            turning.cancel()
            with suppress(asyncio.CancelledError):
                await turning
        platform.close()

    app = Application(
        title="Headway",
        version=__version__,
        lifespan=life,
        docs_url=f"{PREFIX}/docs",
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        max_body_size=platform.settings.body_limit_bytes,
    )
    app.state.platform = platform
    problems.install(app)
    for area in AREAS:
        app.include_router(area.router, prefix=PREFIX)
    app.include_router(metrics.router)
    app.include_router(console.router)
    return app
