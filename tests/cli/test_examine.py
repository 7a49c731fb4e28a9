"""`headway examine`: any folder of files in, one object or one page out; no server is asked."""

import gzip
import json
import os
from pathlib import Path

import pytest

from headway.cli import exits
from headway.cli.main import run

OUT_OF_MEMORY = (
    b'[rank5]: Traceback (most recent call last):\n[rank5]:   File "/home/ann/train.py", line 41, in step\n'
    b"[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
)
FIELDS = [
    "cause_class",
    "first_rank",
    "first_node",
    "first_role",
    "code_location",
    "actor",
    "retry",
    "confidence",
    "followers",
    "evidence",
    "next_steps",
]


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_LANG", "en")
    monkeypatch.delenv("HEADWAY_URL", raising=False)


def test_the_object_has_the_fields_programs_rely_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.log").write_bytes(b"step 1\n" + OUT_OF_MEMORY)
    assert run(["examine", str(tmp_path), "--json"]) == exits.DONE
    found = json.loads(capsys.readouterr().out)
    assert list(found) == FIELDS
    assert (found["cause_class"], found["first_rank"], found["actor"]) == ("DEVICE_OOM", 5, "dev")
    assert found["code_location"] == "/home/ann/train.py:41"
    first = found["evidence"][0]
    assert first == {"file": "train.log", "offset": 7, "line": "[rank5]: Traceback (most recent call last):"}


def test_nested_packed_and_binary_files_are_taken_as_they_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "n1" / "old").mkdir(parents=True)
    (tmp_path / "n1" / "old" / "rank-5.log.gz").write_bytes(gzip.compress(OUT_OF_MEMORY))
    (tmp_path / "core.123").write_bytes(bytes(range(256)) * 64)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"step 1\n" * 9999)[:60])
    (tmp_path / "empty.log").touch()
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling.log")
    os.mkfifo(tmp_path / "pipe")
    assert run(["examine", str(tmp_path), "--json"]) == exits.DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["cause_class"], found["first_rank"]) == ("DEVICE_OOM", 5)
    assert {line["file"] for line in found["evidence"]} == {"n1/old/rank-5.log.gz"}


def test_a_person_reads_where_it_began_whose_move_it_is_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.log").write_bytes(OUT_OF_MEMORY)
    run(["examine", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Out of device memory  [DEVICE_OOM]" in said
    assert "first: rank 5 at /home/ann/train.py:41" in said
    assert "the researcher's move · do not try again as it is" in said
    monkeypatch.setenv("HEADWAY_LANG", "zh")
    run(["examine", str(tmp_path)])
    assert "最先出错：进程 5 位于 /home/ann/train.py:41" in capsys.readouterr().out


def test_a_healthy_log_blames_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.log").write_text("".join(f"step {n} loss 2.{n}\n" for n in range(9)) + "training finished\n")
    assert run(["examine", str(tmp_path)]) == exits.DONE
    said = capsys.readouterr().out
    assert "Nothing stopped the job" in said
    assert "first:" not in said


@pytest.mark.parametrize("name", ["nowhere", "file.log"])
def test_what_is_no_folder_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (tmp_path / "file.log").write_text("x\n")
    assert run(["examine", str(tmp_path / name), "--json"]) == exits.NOT_FOUND
    assert f"there is no folder {tmp_path / name}" in capsys.readouterr().err


def test_a_folder_without_logs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(range(256)) * 64)
    assert run(["examine", str(tmp_path)]) != exits.DONE
    captured = capsys.readouterr()
    assert "holds no log file that can be read" in captured.err
    assert captured.out == ""


def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rank-0.log").write_text("x\n")
    opened = Path.open

    def refuse(path: Path, *args: object, **options: object) -> object:
        if path.name == "rank-0.log":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    assert run(["examine", str(tmp_path)]) != exits.DONE
    assert f"{tmp_path / 'rank-0.log'} cannot be read: Permission denied" in capsys.readouterr().err
