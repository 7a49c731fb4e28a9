"""What commands print, word for word, in both languages, for canned answers. The expected texts are in `golden/`."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

GOLDEN = Path(__file__).parent / "golden"
NODES = [
    {"node": {"name": "n1", "engine": "local", "device_type": "cpu", "devices": 2, "state": "up", "reason": None}}
    | {"taken": {"1": "j-8a0.1", "0": "j-8a0.1"}},
    {
        "node": {
            "name": "节点二",
            "engine": "local",
            "device_type": "cpu",
            "devices": 2,
            "state": "down",
            "reason": "disk",
        }
    }
    | {"taken": {}},
]
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "ps": (("ps",), {"/jobs": {"items": [canned.a_view(), canned.waiting()], "next": None}}),
    "show": (("show", "j-8a0"), {"/jobs/j-8a0": canned.a_view()}),
    "why-waiting": (("why", "j-9"), {"/jobs/j-9": canned.waiting(), "/jobs/j-9/ahead": canned.those_before()}),
    "why-sooner": (("why", "j-9", "--sooner"), {"/jobs/j-9/sooner": canned.variants()}),
    "why-broken": (
        ("why", "j-8a0"),
        {"/jobs/j-8a0": canned.broken(), "/jobs/j-8a0/bills": [canned.a_bill()]},
    ),
    "why-held": (("why", "j-8a0"), {"/jobs/j-8a0": canned.held(), "/jobs/j-8a0/bills": []}),
    "quota-show": (("quota", "show"), {"/quota": canned.a_table()}),
    "quota-history": (
        ("quota", "history"),
        {
            "/quota/versions": [
                canned.a_version(4, dropped_as="rejected", dropped_by="root", dropped_why="太早", approved_at=None),
                canned.a_version(3, approved_by=None, approved_at=None, in_force_from=None),
                canned.a_version(2),
            ]
        },
    ),
    "quota-rules": (("quota", "rules"), {"/queue/rules": canned.the_rules()}),
    "grant-ls": (
        ("grant", "ls"),
        {"/grants": [{"request": canned.a_grant(state="approved"), "active": True, "ends_soon": True}]},
    ),
    "window-ls": (("window", "ls"), {"/windows": [canned.a_window()]}),
    "calibration": (("forecast", "calibration"), {"/forecast/calibration": canned.a_calibration()}),
    "bills": (
        ("bills", "j-8a0"),
        {"/jobs/j-8a0/bills": [canned.a_bill()], "/jobs/j-8a0/losses": canned.the_losses()},
    ),
    "cadence": (("cadence", "j-8a0"), {"/jobs/j-8a0/cadence": canned.a_cadence()}),
    "top-idle": (("top", "--idle"), {"/cards": canned.idle_cards()}),
    "top-cards": (
        ("top", "--cards"),
        {"/cards": [canned.a_card(), canned.a_card(device=1, state="unknown", idle_since=None)]},
    ),
    "top": (("top",), {"/nodes": NODES}),
    "usage": (("usage", "--project", "nlp", "--month", "2026-12"), {"/projects/nlp/statement": canned.a_statement()}),
    "report": (("report", "--month", "2026-11"), {"/reports": [canned.a_report(), canned.a_report("vision")]}),
    "report-project": (
        ("report", "--month", "2026-11", "--project", "nlp"),
        {"/projects/nlp/report": canned.a_report()},
    ),
    "report-jobs": (
        ("report", "--month", "2026-11", "--project", "nlp", "--jobs"),
        {"/projects/nlp/report": canned.a_report()},
    ),
    "report-more": (
        ("report", "--month", "2026-11", "--add", "4x8xH800"),
        {"/reports/with-more": canned.with_more()},
    ),
    "service-show": (("service", "show", "nlp/chat"), {"/services/nlp/chat": canned.a_service()}),
    "service-history": (
        ("service", "history", "nlp/chat"),
        {
            "/services/nlp/chat": canned.a_service(),
            "/services/nlp/chat/history": [canned.a_split(3, rollback_of=1), canned.a_split(2, 90, reason="试一试")],
        },
    ),
}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_a_command_prints_what_it_printed_before(stub: Stub, headway: Headway, name: str, language: str) -> None:
    words, answers = CASES[name]
    for path, body in answers.items():
        stub.on("GET", path, body)
    ran = headway(*words, language=language)
    expected = (GOLDEN / f"{name}.{language}.txt").read_text(encoding="utf-8")
    assert ran.out + ("--- stderr\n" + ran.err if ran.err else "") == expected
    assert ran.code == 0


def test_every_golden_has_its_case() -> None:
    names = {path.name.split(".")[0] for path in GOLDEN.iterdir()}
    assert names == set(CASES)
