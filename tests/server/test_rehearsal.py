"""`headway-server rehearse` and `snapshot`: past jobs under another table or with more nodes; a cycle taken home."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from headway.domain.errors import PlatformError
from headway.domain.quota_table import read_tree
from headway.server.main import main
from headway.server.operations.jobs.submit import Submission, submit
from headway.server.operations.people.directory import Change
from headway.server.operations.queue.quota import approve, propose
from headway.server.platform import Platform
from headway.server.rehearsal import nodes_of

TABLE = """
[projects.nlp]
cards.cpu = { guaranteed = 2, borrow_ceiling = 2 }

[projects.vision]
cards.cpu = { guaranteed = 2 }
"""
TRACE = "project,user,submit_s,duration_s,gpus,limit_s\n" + "".join(
    f"{project},ann,{number * 10},600,2,3600\n" for number in range(10) for project in ("nlp", "vision")
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(TRACE.encode()))
    return path


@pytest.fixture
def home(platform: Platform) -> list[str]:
    """A home with a quota table, as options."""
    with platform.database.write() as c:
        proposed = propose(c, Change("olga", platform.clock.now()), read_tree(TABLE), "a start")
        approve(c, Change("root", platform.clock.now()), proposed.number, None, ({"admin"}, {"operator"}))
    return ["--home", str(platform.settings.home), "--database", platform.settings.url]


def run(*words: str) -> tuple[int, str]:
    ran = CliRunner().invoke(main, list(words))
    return ran.exit_code, ran.output


def rehearsed(*words: str) -> Any:
    code, said = run("rehearse", *words, "--json")
    assert code == 0, said
    return json.loads(said)


def test_a_table_is_rehearsed_before_it_is_saved(home: list[str], trace: Path, tmp_path: Path) -> None:
    proposed = tmp_path / "new.toml"
    proposed.write_text(TABLE.replace("guaranteed = 2 }", 'guaranteed = 2, borrow_ceiling = "any" }'))
    told = rehearsed(*home, "--trace", str(trace), "--quota", str(proposed), "--cluster", "4x2xcpu")
    assert (told["jobs"], told["left_out"]) == (20, 0)
    before, after = (told["projects"]["vision"][side]["mean_wait_s"] for side in ("before", "after"))
    assert after < before


def test_more_nodes_shorten_waits(home: list[str], trace: Path) -> None:
    told = rehearsed(*home, "--trace", str(trace), "--cluster", "1x2xcpu", "--add", "3x2xcpu")
    assert told["whole"]["after"]["mean_wait_s"] < told["whole"]["before"]["mean_wait_s"]
    assert 0 < told["utilisation"]["after"] < told["utilisation"]["before"] <= 1


def test_it_is_told_as_a_table(home: list[str], trace: Path) -> None:
    code, said = run("rehearse", *home, "--trace", str(trace))
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()] == ["project", "nlp", "vision", "all", "utilisation:"]


def test_a_trace_with_missing_columns_is_refused(home: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("project,gpus\nnlp,2\n")
    code, said = run("rehearse", *home, "--trace", str(path))
    assert code == 1
    assert "submit_s, duration_s, limit_s" in said


def test_without_a_past_there_is_nothing_to_rehearse(home: list[str]) -> None:
    code, said = run("rehearse", *home)
    assert code == 1
    assert "none of the 0 jobs can be replayed" in said


@pytest.mark.parametrize("text", ["4x8", "0x8xH800", "-1x8xH800", "4x0xH800"])
def test_nodes_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(PlatformError) as refused:
        nodes_of(text)
    assert refused.value.code == "invalid-field"


def test_a_dump_replays_to_a_plan(platform: Platform, home: list[str], tmp_path: Path) -> None:
    with platform.database.write() as c:
        wish = Submission(name="first", project="nlp", template="command", parameters={"command": "true"})
        job = submit(platform, c, wish, "ann")
    code, dumped = run("snapshot", "dump", *home)
    assert code == 0
    file = tmp_path / "cycle.json"
    file.write_text(dumped)
    first, second = run("snapshot", "replay", str(file)), run("snapshot", "replay", str(file))
    assert first == second
    assert [start["job"] for start in json.loads(first[1])["starts"]] == [job.id]
    file.write_text("{}")
    assert run("snapshot", "replay", str(file))[0] == 1


def test_a_bad_table_is_not_rehearsed(home: list[str], trace: Path, tmp_path: Path) -> None:
    proposed = tmp_path / "new.yaml"
    proposed.write_text(
        "departments: {a: {parent: a}}\nprojects: {nlp: {department: a, cards: {cpu: {guaranteed: 2}}}}\n"
    )
    code, said = run("rehearse", *home, "--trace", str(trace), "--quota", str(proposed))
    assert (code, "a is its own ancestor" in said) == (1, True)
    proposed.write_text("projects: {nlp: {cards: {h900: {guaranteed: 2}}}}\n")
    code, said = run("rehearse", *home, "--trace", str(trace), "--quota", str(proposed))
    assert (code, "h900" in said) == (1, True)
