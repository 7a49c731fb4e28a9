"""`headway progress`: any log, from a file or standard input, without a server."""

import io
import json

import pytest

from tests.cli.conftest import Headway

LOG = (
    "Loading model\nstep 1/30 loss: 2.5 eta: 0:01:00\nstep 2/30 loss: nan time: 0.5\nSaving model checkpoint to /data\n"
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return path


def test_json_holds_exactly_the_reader_the_records_and_the_phases(headway: Headway, log) -> None:
    ran = headway("progress", str(log), "--json")
    assert ran.code == 0
    nothing = {"segment": None, "epoch": None}
    assert json.loads(ran.out) == {
        "reader": "general",
        "records": [
            {"line": 2, **nothing, "step": 1, "total_steps": 30, "loss": 2.5, "seconds_per_step": None, "eta_s": 60},
            {"line": 3, **nothing, "step": 2, "total_steps": 30, "loss": "nan", "seconds_per_step": 0.5, "eta_s": None},
        ],
        "phases": [
            {"from_line": 1, "to_line": 1, "phase": "startup"},
            {"from_line": 2, "to_line": 3, "phase": "training"},
            {"from_line": 4, "to_line": 4, "phase": "saving"},
        ],
    }


def test_a_person_sees_the_reader_the_newest_figures_and_the_phases(headway: Headway, log) -> None:
    ran = headway("progress", str(log))
    assert "read by general: 2 records" in ran.out
    assert "2/30" in ran.out
    assert "2.00 steps/s" in ran.out
    assert "lines 4–4: saving" in ran.out


def test_it_speaks_chinese(headway: Headway, log) -> None:
    assert "由 general 识别：2 条记录" in headway("progress", str(log), language="zh").out


def test_standard_input_is_read_as_a_dash(headway: Headway, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    assert json.loads(headway("progress", "-", "--json").out)["reader"] == "general"


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_chinese_logs_are_read_in_each_encoding(headway: Headway, tmp_path, encoding: str) -> None:
    path = tmp_path / "train.log"
    path.write_bytes("第一轮 训练 步数: 100/2000, 损失: 1.25\n".encode(encoding))
    (record,) = json.loads(headway("progress", str(path), "--json").out)["records"]
    assert (record["step"], record["total_steps"], record["loss"]) == (100, 2000, 1.25)


def test_an_empty_file_and_one_without_progress_match_no_reader(headway: Headway, tmp_path) -> None:
    for content, phases in (("", 0), ("hello\n", 1)):
        path = tmp_path / "train.log"
        path.write_text(content)
        found = json.loads(headway("progress", str(path), "--json").out)
        assert (found["reader"], found["records"], len(found["phases"])) == (None, [], phases)
        ran = headway("progress", str(path))
        assert (ran.code, "no reader matched" in ran.err) == (0, True)


def test_what_is_no_readable_text_is_refused_by_name(headway: Headway, tmp_path) -> None:
    binary = tmp_path / "model.pt"
    binary.write_bytes(bytes(range(256)) * 64)
    for path, code, says in (
        (tmp_path / "absent.log", 3, "there is no file"),
        (tmp_path, 5, "cannot be read"),
        (binary, 5, "is no text"),
    ):
        ran = headway("progress", str(path), "--json")
        assert (ran.code, ran.out) == (code, "")
        assert says in ran.err
        assert str(path) in ran.err
