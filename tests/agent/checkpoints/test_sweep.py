"""One checkpoint goes whole, and nothing beside it, whatever links and names lie in the way."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.agent.checkpoints.sweep import Kept, discard


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for step in (1, 2):
        (tmp_path / f"root/step-{step}/inner").mkdir(parents=True)
        (tmp_path / f"root/step-{step}/inner/model.pt").write_bytes(b"12345")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/precious").write_text("kept")
    return tmp_path / "root"


def kept(root: Path, path: str, size: int | None = None) -> str:
    with pytest.raises(Kept) as refused:
        discard(str(root), path, size)
    return str(refused.value)


def test_a_folder_goes_with_all_that_is_in_it(root: Path) -> None:
    discard(str(root), "step-1", 5)
    assert [path.name for path in root.iterdir()] == ["step-2"]


def test_a_file_goes_from_below(root: Path) -> None:
    discard(str(root), "step-2/inner/model.pt")
    assert list((root / "step-2/inner").iterdir()) == []
    assert (root / "step-1/inner/model.pt").exists()


@pytest.mark.parametrize("path", ["", ".", "..", "../outside", "step-1/../../outside", "/etc", "step-1//inner", "a\0b"])
def test_a_path_out_of_the_root_is_refused(root: Path, path: str) -> None:
    assert kept(root, path) == "outside"


def test_a_link_is_neither_followed_nor_taken_for_a_checkpoint(root: Path) -> None:
    (root / "step-3").symlink_to(root.parent / "outside")
    (root / "way").symlink_to(root.parent)
    assert kept(root, "step-3") == "link"
    assert kept(root, "way/outside") == "link"
    (root.parent / "root-link").symlink_to(root)
    assert kept(root.parent / "root-link", "step-1") == "link"
    assert (root.parent / "outside/precious").read_text() == "kept"


def test_links_in_a_checkpoint_go_and_what_they_name_stays(root: Path) -> None:
    (root / "step-1/out").symlink_to(root.parent / "outside")
    (root / "step-1/inner/file").symlink_to(root.parent / "outside/precious")
    discard(str(root), "step-1")
    assert (root.parent / "outside/precious").read_text() == "kept"
    assert not (root / "step-1").exists()


def test_one_written_over_since_stays(root: Path) -> None:
    (root / "step-1/inner/more").write_bytes(b"1")
    assert kept(root, "step-1", 5) == "changed"
    assert (root / "step-1/inner/more").exists()


def test_one_that_somebody_reads_stays(root: Path) -> None:
    reader = os.open(root / "step-1", os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    assert kept(root, "step-1") == "in-use"
    os.close(reader)
    discard(str(root), "step-1")
    assert not (root / "step-1").exists()


def test_one_that_is_gone_is_said_to_be(root: Path) -> None:
    assert kept(root, "step-9") == "missing"
    assert kept(root / "nowhere", "step-1") == "missing"


names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60)


@settings(deadline=None)
@given(names, st.lists(names, max_size=4, unique=True))
def test_whatever_names_are_in_it_only_that_checkpoint_goes(name: str, inside: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "root")
        root.mkdir()
        (root / ".beside it").mkdir()
        if name in (".", "..", ".beside it"):
            return
        (root / name).mkdir()
        for each in inside:
            if each not in (".", ".."):
                (root / name / each).write_bytes(b"1")
        discard(str(root), name)
        assert [path.name for path in root.iterdir()] == [".beside it"]
