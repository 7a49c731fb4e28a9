"""Writes web/openapi.json, from which the console's types are generated; run it after changing a route or a body."""

import json
from types import SimpleNamespace
from typing import cast

from headway.server.app import create_app
from headway.server.platform import Platform
from tests.house.repository import REPOSITORY

PAGE = REPOSITORY / "web/openapi.json"


def page() -> str:
    """The schema of people's routes: what agents speak is not the console's."""
    settings = SimpleNamespace(body_limit_bytes=1 << 20)
    schema = create_app(cast(Platform, SimpleNamespace(settings=settings)), with_loops=False).openapi()
    schema["paths"] = {path: verbs for path, verbs in schema["paths"].items() if "/agent/" not in path}
    return json.dumps(schema, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
