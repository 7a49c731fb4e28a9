"""What machines print, and what follows from it: one short case a row of the tables, healthy runs among them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.cause import Cause
from headway.diagnosis.examine_files import ExaminedOut, examine_files, reading_order
from headway.diagnosis.reading.read import Source

TABLES = ("told.toml", "generality.toml")
TOLD: list[dict[str, Any]] = [
    told
    for table in TABLES
    for told in tomllib.loads(Path(__file__).with_name(table).read_text(encoding="utf-8"))["told"]
]


def examined(files: dict[str, str]) -> ExaminedOut:
    return examine_files([Source(path, [text.encode()]) for path, text in files.items()], "en")


@pytest.mark.parametrize("told", TOLD, ids=[told["name"] for told in TOLD])
def test_the_cause_the_place_and_the_move_are_told(told: dict[str, Any]) -> None:
    found = examined(told["files"])
    assert found["cause_class"] in told["cause"]
    assert found["first_rank"] == told.get("rank")
    assert found["first_role"] == told.get("role")
    assert set(found["followers"]) <= set(told.get("followers", found["followers"]))
    fields = (("node", "first_node"), ("actor", "actor"), ("retry", "retry"), ("location", "code_location"))
    for said, field in fields:
        if said in told:
            assert dict(found)[field] == told[said]


def test_a_healthy_run_names_nobody_and_asks_nothing_of_anybody() -> None:
    healthy = [examined(told["files"]) for told in TOLD if told["cause"] == ["NONE"]]
    assert len(healthy) >= 10
    assert {(found["first_rank"], found["actor"], found["retry"]) for found in healthy} == {(None, None, "no_retry")}


def test_evidence_points_at_the_bytes_it_quotes() -> None:
    for told in TOLD:
        for line in examined(told["files"])["evidence"]:
            data = told["files"][line["file"]].encode()
            assert data[line["offset"] :].decode().startswith(line["line"][:80])


def test_the_order_in_which_files_are_given_changes_nothing() -> None:
    for told in TOLD:
        files = told["files"]
        assert examined(files) == examined(dict(reversed(files.items())))


def test_nothing_is_found_in_nothing() -> None:
    found = examined({"train.log": ""})
    assert found["cause_class"] == Cause.NONE
    assert found["evidence"] == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_cause_has_a_title_and_steps(language: Any) -> None:
    from headway.diagnosis.describe import title
    from headway.domain.errors import PlatformError

    for cause in Cause:
        code = f"cause-{cause.lower().replace('_', '-')}"
        assert title(cause, language) != code
        assert PlatformError(code).hint(language)


def test_a_person_reads_the_main_process_first_then_the_first_faulty_rank() -> None:
    files = {
        "rank-0.log": "[rank0]: torch.distributed.DistBackendError: NCCL error in: x, remote process exited\n",
        "rank-1.log": "step 1\n",
        "rank-2.log": "[rank2]: KeyError: 'x'\n",
    }
    found = examined(files)
    assert found["first_rank"] == 2
    assert reading_order(found, sorted(files)) == ["rank-0.log", "rank-2.log"]
