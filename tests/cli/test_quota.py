"""The commands around the quota table, grants, windows and arrays: what is asked of the server, and what is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from headway.cli import exits
from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

TABLE = "[projects.nlp]\ncards.h200 = { guaranteed = 8 }\n"
FAR = "nlp is to have 8 × h200: the site has 4"


def bodies(stub: Stub, path: str) -> list[Any]:
    """What was sent to a path."""
    return [asked.body for asked in stub.asked if (asked.method, asked.path) == ("POST", path)]


def test_a_table_is_printed_as_it_can_be_proposed(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/quota", canned.a_table())
    ran = headway("quota", "show", "--toml")
    assert (ran.code, ran.out) == (0, TABLE)


def test_proposing_sends_the_file_and_prints_the_number(stub: Stub, headway: Headway, tmp_path: Path) -> None:
    file = tmp_path / "quota.toml"
    file.write_text(TABLE, encoding="utf-8")
    stub.on("POST", "/quota/versions", canned.a_version(2, approved_by=None, warnings=[FAR]))
    ran = headway("quota", "propose", str(file), "--reason", "新的一年")
    assert (ran.code, ran.out) == (0, "2\n")
    assert bodies(stub, "/quota/versions") == [{"content": TABLE, "reason": "新的一年"}]
    assert "projects.nlp.cards.h200.guaranteed: 4 → 8" in ran.err
    assert f"! {FAR}\n" in ran.err


def test_a_yaml_file_is_sent_as_yaml(stub: Stub, headway: Headway, tmp_path: Path) -> None:
    file = tmp_path / "quota.yaml"
    file.write_text("projects: {nlp: {cards: {h200: {guaranteed: 8}}}}\n", encoding="utf-8")
    stub.on("POST", "/quota/versions", canned.a_version(2, approved_by=None, warnings=[]))
    assert headway("quota", "propose", str(file), "--reason", "x").code == 0
    (sent,) = bodies(stub, "/quota/versions")
    assert sent["format"] == "yaml"


def test_a_file_that_is_no_text_is_refused_before_anything_is_sent(headway: Headway, tmp_path: Path) -> None:
    file = tmp_path / "quota.toml"
    file.write_bytes(b"\xff\xfe")
    ran = headway("quota", "propose", str(file), "--reason", "x")
    assert (ran.code, "quota.toml" in ran.err) == (exits.USAGE, True)


@pytest.mark.parametrize("verb", ["reject", "withdraw"])
def test_a_proposal_is_dropped_with_its_reason(stub: Stub, headway: Headway, verb: str) -> None:
    stub.on("POST", f"/quota/versions/2/{verb}", canned.a_version(2, dropped_as=f"{verb}n"))
    assert headway("quota", verb, "2", "--reason", "too early").code == 0
    assert bodies(stub, f"/quota/versions/2/{verb}") == [{"reason": "too early"}]


def test_approving_shows_the_difference_first(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/quota/versions/2/diff", ["projects.nlp.cards.h200.guaranteed: 4 → 8"])
    stub.on("POST", "/quota/versions/2/approve", canned.a_version(2))
    ran = headway("quota", "approve", "2", "--from", "2026-12-01T14:00", "--yes")
    assert ran.code == 0
    assert ran.err.startswith("  projects.nlp.cards.h200.guaranteed: 4 → 8\n")
    assert bodies(stub, "/quota/versions/2/approve") == [{"in_force_from": "2026-12-01T14:00:00+08:00"}]


def test_a_grant_is_asked_for_until_a_moment(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/grants", canned.a_grant(warnings=[FAR]))
    ran = headway("grant", "request", "nlp", "h200", "8", "--until", "2026-12-24", "--reason", "a paper")
    assert (ran.code, ran.out) == (0, "g-1\n")
    assert f"! {FAR}\n" in ran.err
    (sent,) = bodies(stub, "/grants")
    assert (sent["ends"], sent["devices"], "begins" in sent) == ("2026-12-24T00:00:00+08:00", 8, False)


@pytest.mark.parametrize(("word", "approve"), [("--approve", True), ("--deny", False)])
def test_a_grant_is_decided(stub: Stub, headway: Headway, word: str, approve: bool) -> None:
    stub.on("POST", "/grants/g-1/decide", canned.a_grant(state="approved" if approve else "denied"))
    ran = headway("grant", "decide", "g-1", word)
    assert (ran.code, "2026-12-24" in ran.err) == (0, approve)
    assert bodies(stub, "/grants/g-1/decide") == [{"approve": approve, "note": ""}]


def test_a_request_is_withdrawn(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/grants/g-1/withdraw", canned.a_grant(state="withdrawn"))
    ran = headway("grant", "withdraw", "g-1", "--reason", "not needed")
    assert (ran.code, ran.out, ran.err) == (0, "", "g-1 is withdrawn\n")
    assert bodies(stub, "/grants/g-1/withdraw") == [{"reason": "not needed"}]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_no_moment_is_refused_before_anything_is_sent(headway: Headway, language: str) -> None:
    words = ("grant", "request", "nlp", "h200", "8", "--until", "soon", "--reason", "x")
    ran = headway(*words, language=language)
    assert ran.code == exits.USAGE
    assert "soon" in ran.err


def test_a_sweep_is_sent_as_an_array_and_prints_every_id(stub: Stub, headway: Headway) -> None:
    made = [canned.a_job(id=f"j-{n}") for n in (1, 2)]
    for job in made:
        job["spec"]["conditions"] = {"array": "a-1"}
    stub.on("POST", "/jobs/arrays", made)
    words = ("--template", "t", "--name", "n", "--project", "nlp", "--after-ok", "j-0", "--protected", "--cap", "1")
    ran = headway("submit", *words, "--sweep", "lr=0.1,0.01")
    assert (ran.code, ran.out) == (0, "j-1\nj-2\n")
    (sent,) = bodies(stub, "/jobs/arrays")
    assert (sent["sweep"], sent["after_ok"], sent["protected"], sent["cap"]) == (
        {"lr": ["0.1", "0.01"]},
        ["j-0"],
        True,
        1,
    )


def test_taking_a_job_shows_the_price_and_asks(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/jobs/j-8a0/preempt", canned.a_price())
    dry = headway("preempt", "j-8a0", "--reason", "demo", "--dry-run")
    assert (dry.code, "1,200" in dry.err) == (0, True)
    assert headway("preempt", "j-8a0", "--reason", "demo", "--no-input").code == exits.USAGE
    assert headway("preempt", "j-8a0", "--reason", "demo", "--yes").code == 0
    sent = [body["dry_run"] for body in bodies(stub, "/jobs/j-8a0/preempt")]
    assert sent == [True, True, True, False]


def test_json_has_the_keys_of_the_api(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/quota/versions", [canned.a_version(2)])
    ran = headway("quota", "history", "--json=number,author")
    assert json.loads(ran.out) == [{"number": 2, "author": "olga"}]
