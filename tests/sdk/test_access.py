"""Where address and token come from, and that the token stays private."""

import os
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.sdk.client import Access, client_file, find_access, save_access


def kept(home: Path, url: str = "http://here:1", token: str | None = "hw_file") -> dict[str, str]:
    save_access(Access(url, token), home / "client.json")
    return {"HEADWAY_HOME": str(home)}


def test_the_environment_alone_is_enough(tmp_path: Path) -> None:
    environ = {"HEADWAY_HOME": str(tmp_path), "HEADWAY_URL": "http://there:2/", "HEADWAY_TOKEN": "hw_env"}
    assert find_access(environ) == Access("http://there:2", "hw_env")


def test_without_the_environment_the_file_in_the_home_is_read(tmp_path: Path) -> None:
    assert find_access(kept(tmp_path)) == Access("http://here:1", "hw_file")


def test_a_token_of_the_environment_goes_before_the_files(tmp_path: Path) -> None:
    assert find_access(kept(tmp_path) | {"HEADWAY_TOKEN": "hw_env"}) == Access("http://here:1", "hw_env")


def test_a_token_from_the_file_is_never_sent_to_another_address(tmp_path: Path) -> None:
    assert find_access(kept(tmp_path) | {"HEADWAY_URL": "http://elsewhere:3"}) == Access("http://elsewhere:3", None)


def test_nothing_anywhere_means_not_logged_in(tmp_path: Path) -> None:
    with pytest.raises(PlatformError) as raised:
        find_access({"HEADWAY_HOME": str(tmp_path)})
    assert raised.value.code == "not-logged-in"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o622])
def test_a_file_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    environ = kept(tmp_path)
    (tmp_path / "client.json").chmod(mode)
    with pytest.raises(PlatformError) as raised:
        find_access(environ)
    assert (raised.value.code, raised.value.params["path"]) == ("client-file-open", str(tmp_path / "client.json"))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", "1"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "client.json"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(PlatformError) as raised:
        find_access({"HEADWAY_HOME": str(tmp_path)})
    assert raised.value.code == "client-file-damaged"


def test_a_saved_file_is_private_whatever_the_umask_and_replaces_an_open_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "client.json"
    path.parent.mkdir()
    path.write_text("{}")
    path.chmod(0o666)
    before = os.umask(0)
    try:
        save_access(Access("http://here:1", "hw_new"), path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["client.json"]


def test_a_token_does_not_show_when_access_is_printed() -> None:
    assert "hw_secret" not in repr(Access("http://here:1", "hw_secret"))


def test_the_home_is_in_the_users_folder_by_default() -> None:
    assert client_file({}) == Path.home() / ".headway" / "client.json"
