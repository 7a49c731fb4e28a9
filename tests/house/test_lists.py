"""Every list of the API comes in pages."""

import json
from typing import Any

from tests.house.openapi_page import PAGE

BOUNDED = {
    "/api/v1/engines": "those in the home's configuration",
    "/api/v1/jobs/{job}/ahead": "the first twenty",
    "/api/v1/jobs/{job}/sooner": "the kinds of change there are",
    "/api/v1/jobs/{job}/logs/arrivals": "at most `points`",
    "/api/v1/jobs/{job}/readings": "one series a rank or node of one attempt, each of at most `points`",
    "/api/v1/nodes/{node}/readings": "one series a card of one node, each of at most `points`",
    "/api/v1/quota/versions/{number}/diff": "lines of one table against another",
}
"""Lists that are short by nature, and what bounds each."""
OWN_PLACE = {"/api/v1/facts": "after"}
"""Facts are numbered: a page goes on after a number."""


def lists() -> dict[str, set[str]]:
    """Routes that answer with a list or a page of one, and what each may be asked with."""
    schema = json.loads(PAGE.read_text(encoding="utf-8"))
    reads = {path: verbs["get"] for path, verbs in schema["paths"].items() if "get" in verbs}
    return {
        path: {each["name"] for each in route.get("parameters", [])}
        for path, route in reads.items()
        if is_list(schema, route["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {}))
    }


def is_list(schema: dict[str, Any], answer: dict[str, Any]) -> bool:
    name = answer.get("$ref", "").rpartition("/")[2]
    shape = schema["components"]["schemas"][name] if name else answer
    return shape.get("type") == "array" or name.startswith("Page_")


def test_every_list_takes_a_cursor_and_a_limit() -> None:
    without = {
        path
        for path, asked in lists().items()
        if path not in BOUNDED and not {OWN_PLACE.get(path, "cursor"), "limit"} <= asked
    }
    assert not without, "take `PageHere` (src/headway/server/api/paging.py)"


def test_every_exception_is_a_list_that_does_not_page() -> None:
    assert {path for path in BOUNDED if "cursor" in lists()[path]} == set()
    assert len(lists()) > 4 * len(BOUNDED)
