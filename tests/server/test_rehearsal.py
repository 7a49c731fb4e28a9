"""`headway-server rehearse` and `snapshot`: past jobs under another table or with more nodes; a cycle taken home."""

import gzip
import json
import re
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
    whole = {side: told["whole"][side]["utilisation"] for side in ("before", "after")}
    assert 0 < whole["after"] < whole["before"] <= 1
    for side, all_of_it in whole.items():
        parts = [told["projects"][project][side]["utilisation"] for project in ("nlp", "vision")]
        assert sum(parts) == pytest.approx(all_of_it, abs=1e-3)


def test_utilisation_is_what_a_project_had_of_all_devices(home: list[str], tmp_path: Path) -> None:
    """Four devices for a hundred seconds; nlp has two of them for fifty, vision one for a hundred."""
    path = tmp_path / "trace.csv"
    rows = ("nlp,ann,0,50,2,3600", "vision,bob,0,200,1,3600", "vision,bob,100,10,1,3600")
    path.write_text("\n".join(["project,user,submit_s,duration_s,gpus,limit_s", *rows]) + "\n")
    told = rehearsed(*home, "--trace", str(path), "--add", "2x2xcpu")
    assert told["projects"]["nlp"]["before"]["utilisation"] == 0.25
    assert told["projects"]["nlp"]["after"]["utilisation"] == 0.125
    assert told["projects"]["vision"]["before"]["utilisation"] == 0.25


TITLES = {
    "en": ["PROJECT", "JOBS", "MEAN WAIT (s)", "P90 WAIT (s)", "EVICTIONS", "UTILISATION"],
    "zh": ["项目", "作业数", "平均等待（秒）", "P90 等待（秒）", "被抢占", "利用率"],
}


@pytest.mark.parametrize("language", TITLES)
def test_it_is_told_as_a_table_in_the_operators_language(
    home: list[str], trace: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_LANG", language)
    code, said = run("rehearse", *home, "--trace", str(trace))
    assert code == 0
    heading, *rows, meaning = [re.split(r" {2,}", line.strip()) for line in said.splitlines()]
    assert heading == TITLES[language]
    assert [row[:2] for row in rows] == [["nlp", "10"], ["vision", "10"], ["all" if language == "en" else "全部", "20"]]
    assert all(cell.count(" → ") == 1 for row in rows for cell in row[2:])
    assert "→" in meaning[0]


def test_what_a_rehearsal_leaves_out_is_said(home: list[str], tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("project,user,submit_s,duration_s,gpus,limit_s\nnlp,ann,0,50,2,60\nnobody,bob,0,50,2,60\n")
    code, said = run("rehearse", *home, "--trace", str(path))
    assert code == 0
    *_, row, _, left_out = said.splitlines()
    assert row.endswith("— → —")
    assert "1 jobs are left out" in left_out


def test_a_trace_with_missing_columns_is_refused(home: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("project,gpus\nnlp,2\n")
    code, said = run("rehearse", *home, "--trace", str(path))
    assert code == 1
    assert "submit_s, duration_s, limit_s" in said


HEADING = b"project,user,submit_s,duration_s,gpus,limit_s\n"
GOOD_ROW = b"nlp,ann,0,60,1,60\n"
BROKEN_FILES = {
    "cut.csv.gz": gzip.compress(HEADING + GOOD_ROW * 1000)[:40],
    "plain.csv.gz": HEADING + GOOD_ROW,
    "latin.csv": HEADING + "nlp,grün,0,60,1,60\n".encode("latin-1"),
    "wide.csv": HEADING + b"nlp," + b"a" * 200_000 + b",0,60,1,60\n",
}


@pytest.mark.parametrize("name", BROKEN_FILES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_trace_that_cannot_be_read_is_refused_in_words(
    home: list[str], tmp_path: Path, name: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_LANG", language)
    path = tmp_path / name
    path.write_bytes(BROKEN_FILES[name])
    code, said = run("rehearse", *home, "--trace", str(path))
    assert (code, "[trace-unreadable]" in said, str(path) in said) == (1, True, True)
    assert ("提示：" if language == "zh" else "hint: ") in said


NO_JOBS = [
    *("nlp,a,x,60,1,60", "nlp,a,0,y,1,60", "nlp,a,0,60,z,60", "nlp,a,0,60,1,w", "nlp,a,0,60"),
    *("nlp,a,-5,60,1,60", "nlp,a,0,-60,1,60", "nlp,a,0,60,0,60", "nlp,a,0,60,1,nan", "nlp,a,nan,60,1,60"),
    *("nlp,a,inf,60,1,60", "nlp,a,1e300,60,1,60", "nlp,a,0,inf,1,60", "nlp,a,0,1e300,1,60"),
    *("nlp,a,0,60,inf,60", "nlp,a,0,60,1e12,60", "nlp,a,0,60,1.5,60"),
]


def test_rows_that_are_no_jobs_are_left_out_and_counted(home: list[str], tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(HEADING + "".join(f"{row}\n" for row in NO_JOBS).encode() + GOOD_ROW * 3)
    told = rehearsed(*home, "--trace", str(path))
    assert (told["jobs"], told["rows_left_out"]) == (3, len(NO_JOBS))
    assert f"{len(NO_JOBS)} rows of the trace are left out" in run("rehearse", *home, "--trace", str(path))[1]


@pytest.mark.parametrize("limit", ["", "0", "-1", "inf", "1e300"])
def test_a_limit_that_is_none_is_no_limit(home: list[str], tmp_path: Path, limit: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(HEADING + f"nlp,ann,0,60,1,{limit}\n".encode() + GOOD_ROW)
    assert rehearsed(*home, "--trace", str(path))["jobs"] == 2


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
