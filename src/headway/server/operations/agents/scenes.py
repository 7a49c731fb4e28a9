"""Scenes: what the agents of an attempt saw of its ranks, taken from a report, kept, and given to the diagnosis."""

from collections.abc import Mapping
from typing import Any

import structlog
from pydantic import TypeAdapter, ValidationError

from headway.diagnosis.hang.scene import Scene
from headway.domain.ids import AttemptId
from headway.server.platform import Platform

log = structlog.get_logger("headway.scenes")
SCENE: TypeAdapter[Scene] = TypeAdapter(Scene)
PACE = "pace"
AT_EXIT = "exit"
"""The look that an agent takes by itself when a rank breaks, and its kind."""


def take_scene(platform: Platform, attempt: AttemptId, node: str, scene: Mapping[str, Any]) -> None:
    """Keep a scene that was asked for. One that cannot be read is let go: nobody waits for it any more."""
    look = platform.live.look(attempt)
    scene = {**scene, "kind": AT_EXIT if scene.get("look") == AT_EXIT or look is None else look.kind}
    try:
        seen = SCENE.validate_python({**scene, "node": node})
    except ValidationError as error:
        log.warning("a scene that cannot be read", attempt=attempt, node=node, errors=error.error_count())
        seen = Scene(node, str(scene.get("look")), 0.0, scene["kind"], problem="unreadable")
    if seen.kind != PACE:
        platform.scenes.put(attempt, node, seen.look, dict(scene))
    platform.live.arrived(attempt, seen)
    platform.wake("watch")


def scenes_of(platform: Platform, attempt: AttemptId) -> tuple[Scene, ...]:
    """The scenes of the newest look at an attempt."""
    kept = platform.scenes.of_attempt(attempt)
    newest = kept[-1][0] if kept else None
    found = []
    for look, node, scene in kept:
        if look == newest:
            try:
                found.append(SCENE.validate_python({**scene, "node": node}))
            except ValidationError:
                continue
    return tuple(found)
