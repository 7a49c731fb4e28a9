"""The console's files at `/`: pages find their own way, files are kept, nothing outside the folder is read."""

import gzip
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headway.server import console


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built console of two files, and a secret beside it."""
    built = tmp_path / "web"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<title>Headway</title>")
    (built / "assets/app-1a2b.js").write_text("start()")
    (tmp_path / "secret").write_text("hw_token")
    monkeypatch.setattr(console, "FOLDER", built)
    return built


@pytest.fixture
def site(http: TestClient, folder: Path) -> TestClient:
    return TestClient(http.app, base_url="http://headway.test")


@pytest.mark.parametrize("address", ["/", "/jobs", "/jobs/j-7f3?rank=9", "/services/nlp/chat-main"])
def test_every_page_of_the_console_gets_the_first_page_anew(site: TestClient, address: str) -> None:
    answer = site.get(address)
    assert answer.status_code == 200
    assert "<title>Headway</title>" in answer.text
    assert answer.headers["cache-control"] == "no-cache"


def test_a_file_with_its_digest_in_its_name_is_kept_for_ever(site: TestClient) -> None:
    answer = site.get("/assets/app-1a2b.js")
    assert answer.text == "start()"
    assert "immutable" in answer.headers["cache-control"]


@pytest.fixture
def packed(folder: Path) -> None:
    """The same two files as the build packs them."""
    for name in ("index.html", "assets/app-1a2b.js"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))


@pytest.mark.parametrize(
    ("address", "text", "kind"),
    [("/assets/app-1a2b.js", "start()", "javascript"), ("/jobs", "<title>Headway</title>", "text/html")],
)
def test_what_the_build_packed_is_sent_packed_and_is_the_same_file(
    site: TestClient, packed: None, address: str, text: str, kind: str
) -> None:
    answer = site.get(address, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert (answer.headers["content-encoding"], answer.text) == ("gzip", text)
    assert kind in answer.headers["content-type"]
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "gzip; q=0.000, br", "xgzip"])
def test_who_does_not_take_gzip_gets_the_file_itself(site: TestClient, packed: None, accepted: str) -> None:
    answer = site.get("/assets/app-1a2b.js", headers={"Accept-Encoding": accepted})
    assert answer.text == "start()"
    assert "content-encoding" not in answer.headers
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["cache-control"]


def test_a_file_that_was_not_packed_is_sent_as_it_is(site: TestClient) -> None:
    answer = site.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip"})
    assert answer.text == "start()"
    assert "content-encoding" not in answer.headers


def test_nothing_comes_from_another_host(site: TestClient) -> None:
    policy = site.get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


def test_a_file_of_an_earlier_build_is_not_found_and_no_page(site: TestClient) -> None:
    assert site.get("/assets/app-0000.js").json()["code"] == "not-found"


@pytest.mark.parametrize("address", ["/..%2fsecret", "/assets/..%2f..%2fsecret", "/%2fetc%2fpasswd", "/secret%00"])
def test_no_address_leads_out_of_the_folder(site: TestClient, address: str) -> None:
    assert "hw_token" not in site.get(address).text
    assert "root:" not in site.get(address).text


@pytest.mark.parametrize("address", ["/api", "/api/v1/nothing", "/api/v2/jobs"])
def test_an_address_that_the_api_does_not_have_stays_an_error_of_the_api(site: TestClient, address: str) -> None:
    answer = site.get(address)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_a_console_that_was_not_built_is_told_in_words(site: TestClient, folder: Path) -> None:
    (folder / "index.html").unlink()
    answer = site.get("/jobs", headers={"Accept-Language": "en"})
    assert (answer.status_code, answer.json()["code"]) == (404, "console-not-built")
    assert "make console" in answer.json()["hint"]


def test_facts_are_counted_from_the_newest(site: TestClient, admin: dict[str, str]) -> None:
    every = site.get("/api/v1/facts", headers=admin).json()
    assert [fact["seq"] for fact in site.get("/api/v1/facts?after=-2", headers=admin).json()] == [
        fact["seq"] for fact in every[-2:]
    ]
    assert site.get("/api/v1/facts?after=-100000", headers=admin).json() == every
