"""A server whose certificate a site signed itself: reached with its authority named, and never without."""

import json
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.cli.main import run
from headway.sdk.client import Client
from tests.cli.conftest import Ran
from tests.sdk.stub import Stub, serving

ME = {"user": "ann", "roles": [["member", "nlp"]]}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost that signs itself, its key beside it."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("absent: openssl: makes the test's certificate")
    folder = tmp_path_factory.mktemp("authority")
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "authority.pem"]
    subprocess.run(made, check=True, capture_output=True, cwd=folder)
    return folder / "authority.pem"


@pytest.fixture
def secured(authority: Path) -> Iterator[Stub]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority, authority.with_name("key.pem"))
    with serving(tls) as running:
        running.on("GET", "/me", ME)
        yield running


def typed(capfd: pytest.CaptureFixture[str], *words: str) -> Ran:
    code = run(words)
    said = capfd.readouterr()
    return Ran(code, said.out, said.err)


def test_an_authority_named_at_login_is_kept_and_trusted_from_then_on(
    secured: Stub, authority: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    login = ("login", "--url", secured.url, "--token", "hw_token")
    assert typed(capfd, *login, "--ca-file", str(authority)).code == 0
    kept = json.loads((tmp_path / "home" / "client.json").read_text())
    assert kept == {"url": secured.url, "token": "hw_token", "ca_file": str(authority)}
    assert typed(capfd, "me").out == f"USER   ann\nROLES  member @ nlp\nURL    {secured.url}\n"
    assert typed(capfd, *login).code == 0, "a new token at the same address keeps its authority"


def test_an_authority_of_the_environment_is_trusted(
    secured: Stub, authority: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"URL": secured.url, "TOKEN": "hw_token", "CA_FILE": str(authority)}.items():
        monkeypatch.setenv(f"HEADWAY_{name}", value)
    assert typed(capfd, "me").code == 0
    with Client.from_environment() as api:
        assert api.me() == ME


@pytest.mark.parametrize(("language", "word"), [("en", "is not trusted"), ("zh", "不受信任")])
def test_without_its_authority_a_server_is_refused_in_words_and_told_nothing(
    secured: Stub, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], language: str, word: str
) -> None:
    monkeypatch.setenv("HEADWAY_LANG", language)
    ran = typed(capfd, "login", "--url", secured.url, "--token", "hw_token")
    assert (ran.code, ran.out, secured.asked) == (6, "", [])
    assert word in ran.err
    assert "--ca-file" in ran.err
    assert "[certificate-untrusted]" in ran.err


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_cannot_be_read_is_named(
    secured: Stub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    content: str | None,
) -> None:
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_text(content)
    for name, value in {"URL": secured.url, "TOKEN": "hw_token", "CA_FILE": str(path)}.items():
        monkeypatch.setenv(f"HEADWAY_{name}", value)
    ran = typed(capfd, "me")
    assert (ran.code, "[ca-file-unreadable]" in ran.err, str(path) in ran.err) == (5, True, True)
    assert secured.asked == []
