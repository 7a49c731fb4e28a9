"""Weights are copied by a server that may be root, out of a folder that belongs to the user."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.sdk.job.checkpoint import verify
from headway.sdk.job.manifest import MANIFEST, FileEntry, Manifest, encode_manifest
from headway.server.operations.assets.weights import copy_weights

FILES = {"state.pt": b"state", "hf/config.json": b"{}", "hf/deep/model.bin": b"weights"}


def a_checkpoint(folder: Path, files: dict[str, bytes]) -> Path:
    """A checkpoint folder with these files, all in its manifest."""
    folder.mkdir()
    entries = []
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        entries.append(FileEntry(name, len(content), f"sha256:{hashlib.sha256(content).hexdigest()}"))
    manifest = Manifest("j", "j.1", 1, 1, datetime.now(UTC), 1, "3", None, tuple(entries))
    (folder / MANIFEST).write_bytes(encode_manifest(manifest))
    return folder


def found_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_export_is_the_version_where_there_is_one(tmp_path: Path) -> None:
    copy_weights(verify(a_checkpoint(tmp_path / "step-1", FILES)), tmp_path / "models" / "1")
    assert found_in(tmp_path / "models" / "1") == {"config.json": b"{}", "deep/model.bin": b"weights"}


def test_without_an_export_every_file_of_the_checkpoint_is(tmp_path: Path) -> None:
    copy_weights(verify(a_checkpoint(tmp_path / "step-1", {"state.pt": b"state"})), tmp_path / "1")
    assert found_in(tmp_path / "1") == {"state.pt": b"state"}


def test_every_account_may_read_the_copy(tmp_path: Path) -> None:
    copy_weights(verify(a_checkpoint(tmp_path / "step-1", FILES)), tmp_path / "1")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "1").rglob("*")} == {0o755, 0o644}


def test_a_link_to_a_folder_of_somebody_else_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o700)
    (secret / "key").write_text("private")
    checkpoint = a_checkpoint(tmp_path / "step-1", {"state.pt": b"state"})
    (checkpoint / "hf").symlink_to(secret)
    copy_weights(verify(checkpoint), tmp_path / "1")
    assert found_in(tmp_path / "1") == {"state.pt": b"state"}


@pytest.mark.parametrize("instead", ["link", "other bytes", "nothing"])
def test_what_is_swapped_after_it_verified_is_refused(tmp_path: Path, instead: str) -> None:
    checkpoint = a_checkpoint(tmp_path / "step-1", FILES)
    found = verify(checkpoint)
    swapped = checkpoint / "hf" / "config.json"
    swapped.unlink()
    if instead == "link":
        swapped.symlink_to("/etc/shadow")
    elif instead == "other bytes":
        swapped.write_bytes(b"[]")
    with pytest.raises(PlatformError) as refused:
        copy_weights(found, tmp_path / "1")
    assert refused.value.code == "checkpoint-damaged"
