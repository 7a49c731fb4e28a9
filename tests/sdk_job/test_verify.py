"""Which checkpoints are trusted: any change is found, named, and costs nothing but that checkpoint."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sdk.job.checkpoint import checkpoint_folders, newest_verified, verify
from headway.sdk.job.environment import read_environment
from headway.sdk.job.manifest import Manifest, decode_manifest, encode_manifest
from headway.sdk.job.run import Run

pytestmark = pytest.mark.usefixtures("no_torch")
Damage = Callable[[Path], object]


def export(folder: Path) -> None:
    (folder / "hf").mkdir()
    (folder / "hf" / "weights.bin").write_bytes(bytes(range(256)) * 2)
    (folder / "hf" / "empty.json").write_bytes(b"")


def save_steps(directory: Path, *steps: int) -> None:
    checkpoints = Run(read_environment({})).checkpoints(extra={"cursor": 0}, directory=directory)
    for step in steps:
        checkpoints.save(step, files=export)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, no_torch: None) -> Path:
    """One checkpoint that tests may damage if they mend it."""
    directory = tmp_path_factory.mktemp("saved")
    save_steps(directory, 40)
    return directory / "step-00000040"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    save_steps(tmp_path, 20, 40)
    return tmp_path


def flip(path: Path, offset: int = 100, mask: int = 1) -> None:
    content = bytearray(path.read_bytes())
    content[offset] ^= mask
    path.write_bytes(content)


def edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}, sort_keys=True, indent=1) + "\n")


def link_out(folder: Path) -> None:
    """The same bytes, but outside and behind a symbolic link."""
    outside = folder.parent / "outside"
    shutil.move(folder / "hf" / "weights.bin", outside)
    (folder / "hf" / "weights.bin").symlink_to(outside)


def link_folder_out(folder: Path) -> None:
    shutil.move(folder / "hf", folder.parent / "outside")
    (folder / "hf").symlink_to(folder.parent / "outside")


def link_whole(folder: Path) -> None:
    shutil.move(folder, folder.parent / "outside")
    folder.symlink_to(folder.parent / "outside")


def make_pipe(folder: Path) -> None:
    (folder / "hf" / "weights.bin").unlink()
    os.mkfifo(folder / "hf" / "weights.bin")


def a_file_instead(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"")


DAMAGES: dict[str, tuple[str, Damage]] = {
    "one byte flipped": ("wrong-hash", lambda folder: flip(folder / "state.pickle")),
    "one byte of an exported file flipped": ("wrong-hash", lambda folder: flip(folder / "hf" / "weights.bin")),
    "one file missing": ("missing-file", lambda folder: (folder / "hf" / "empty.json").unlink()),
    "a folder missing": ("missing-file", lambda folder: shutil.rmtree(folder / "hf")),
    "no manifest": ("no-manifest", lambda folder: (folder / "manifest.json").unlink()),
    "truncated": ("wrong-size", lambda folder: os.truncate(folder / "state.pickle", 50)),
    "grown": ("wrong-size", lambda folder: os.truncate(folder / "hf" / "empty.json", 1)),
    "an empty folder": ("no-manifest", lambda folder: [shutil.rmtree(folder), folder.mkdir()]),
    "a file instead of a folder": ("unreadable", a_file_instead),
    "a file linked from outside": ("unreadable", link_out),
    "a folder linked from outside": ("unreadable", link_folder_out),
    "all of it linked from outside": ("unreadable", link_whole),
    "a pipe instead of a file": ("unreadable", make_pipe),
    "manifest edited": ("bad-manifest", lambda folder: edit_manifest(folder, step=41)),
    "manifest of another format": ("bad-manifest", lambda folder: edit_manifest(folder, format=3)),
    "manifest truncated": ("bad-manifest", lambda folder: os.truncate(folder / "manifest.json", 200)),
    "manifest empty": ("bad-manifest", lambda folder: os.truncate(folder / "manifest.json", 0)),
    "manifest not an object": ("bad-manifest", lambda folder: (folder / "manifest.json").write_text("[]\n")),
    "manifest nested beyond reason": (
        "bad-manifest",
        lambda folder: (folder / "manifest.json").write_text("[" * 100_000),
    ),
}


def test_a_checkpoint_as_saved_verifies(saved: Path) -> None:
    found = verify(saved)
    assert (found.ok, found.step, found.reason, found.detail) == (True, 40, "", "")
    assert found.manifest is not None
    assert [entry.path for entry in found.manifest.files] == ["state.pickle", "hf/empty.json", "hf/weights.bin"]
    assert found.manifest.created_at.tzinfo is not None


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_checkpoint_is_skipped_with_its_reason_and_the_one_before_is_used(directory: Path, name: str) -> None:
    reason, damage = DAMAGES[name]
    damage(directory / "step-00000040")
    chosen, rejected = newest_verified(directory)
    assert chosen is not None
    assert (chosen.step, chosen.path.name) == (20, "step-00000020")
    assert [(found.ok, found.step, found.reason) for found in rejected] == [(False, 40, reason)]
    assert rejected[0].detail


@given(data=st.data())
def test_any_single_byte_change_in_any_file_is_found(saved: Path, data: st.DataObject) -> None:
    names = ["manifest.json", "state.pickle", "hf/weights.bin"]
    path = saved / data.draw(st.sampled_from(names))
    offset = data.draw(st.integers(0, path.stat().st_size - 1))
    mask = data.draw(st.integers(1, 255))
    flip(path, offset, mask)
    try:
        assert not verify(saved).ok
    finally:
        flip(path, offset, mask)
    assert verify(saved).ok


def test_every_byte_of_the_manifest_counts(saved: Path) -> None:
    content = (saved / "manifest.json").read_bytes()
    for offset in range(len(content)):
        changed = bytearray(content)
        changed[offset] ^= 0x20
        with pytest.raises(ValueError, match=r".+"):
            decode_manifest(bytes(changed))


@given(content=st.binary(max_size=300))
def test_no_bytes_in_place_of_the_manifest_are_trusted_or_raise(saved: Path, content: bytes) -> None:
    path = saved / "manifest.json"
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        assert verify(saved).reason == "bad-manifest"
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(
    "path", ["../step-00000020/state.pickle", "/etc/hostname", "hf/../state.pickle", "", "a//b", "."]
)
def test_a_manifest_that_points_out_of_its_checkpoint_is_bad(directory: Path, path: str) -> None:
    folder = directory / "step-00000040"
    manifest = verify(folder).manifest
    assert manifest is not None
    entry = type(manifest.files[0])(path, 0, "0" * 64)
    forged = Manifest(**{**vars(manifest), "files": (entry,)})
    (folder / "manifest.json").write_bytes(encode_manifest(forged))
    assert verify(folder).reason == "bad-manifest"


def test_a_checkpoint_under_another_steps_name_is_bad(directory: Path) -> None:
    os.rename(directory / "step-00000020", directory / "step-00000060")
    assert verify(directory / "step-00000060").reason == "bad-manifest"


def test_none_left_is_none_with_every_reason_newest_first(directory: Path) -> None:
    flip(directory / "step-00000040" / "state.pickle")
    (directory / "step-00000020" / "manifest.json").unlink()
    chosen, rejected = newest_verified(directory)
    assert chosen is None
    assert [(found.step, found.reason) for found in rejected] == [(40, "wrong-hash"), (20, "no-manifest")]


def test_a_directory_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert newest_verified(tmp_path / "none") == (None, [])
    assert verify(tmp_path / "none").reason == "no-manifest"


def test_what_is_no_checkpoint_is_not_looked_at(directory: Path) -> None:
    for name in (".tmp-offline.0-step-00000060", "step-x", "notes", "step-00000080.bak", "step-²"):
        (directory / name).mkdir()
    assert [path.name for path in checkpoint_folders(directory)] == ["step-00000040", "step-00000020"]


def test_steps_are_ordered_as_numbers_and_copies_after_their_first(tmp_path: Path) -> None:
    for name in ("step-00000009", "step-100000000", "step-00000009.2", "step-00000009.10"):
        (tmp_path / name).mkdir()
    found = [path.name for path in checkpoint_folders(tmp_path)]
    assert found == ["step-100000000", "step-00000009.10", "step-00000009.2", "step-00000009"]


def test_looking_changes_nothing(directory: Path) -> None:
    flip(directory / "step-00000040" / "state.pickle")
    before = sorted((str(path), path.stat().st_mtime_ns, path.stat().st_ino) for path in directory.rglob("*"))
    newest_verified(directory)
    assert sorted((str(path), path.stat().st_mtime_ns, path.stat().st_ino) for path in directory.rglob("*")) == before


def test_only_the_files_asked_for_are_compared(directory: Path) -> None:
    flip(directory / "step-00000040" / "hf" / "weights.bin")
    assert verify(directory / "step-00000040", only=("state.pickle",)).ok
    assert not verify(directory / "step-00000040").ok


@pytest.fixture
def foreign(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A checkpoint directory outside pytest's own folders, which only their owner may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        save_steps(Path(name), 40)
        yield Path(name)


@pytest.mark.parametrize("locked", ["step-00000040", "step-00000040/state.pickle", "step-00000040/manifest.json", "."])
def test_what_this_user_may_not_read_is_unreadable(foreign: Path, locked: str) -> None:
    os.chmod(foreign / locked, 0)
    as_root = os.geteuid() == 0
    try:
        if as_root:
            os.seteuid(65534)
        chosen, rejected = newest_verified(foreign)
    finally:
        if as_root:
            os.seteuid(0)
        os.chmod(foreign / locked, 0o700)
    assert chosen is None
    assert [found.reason for found in rejected] == ["unreadable"]
    assert "Permission denied" in rejected[0].detail
