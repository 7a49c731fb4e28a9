"""Which engines a home has: added, checked and removed by the operator, opened by the server."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.domain.errors import PlatformError
from headway.server import engines
from headway.server.main import main
from headway.server.settings import Settings


def run(home: Path, *words: str, **environment: str) -> Result:
    return CliRunner().invoke(main, ["engine", *words, "--home", str(home)], env={"HEADWAY_LANG": "en"} | environment)


def test_a_new_home_has_this_machine(tmp_path: Path) -> None:
    assert engines.configured(Settings(home=tmp_path)) == {"local": {}}
    assert run(tmp_path, "ls").stdout == "local\n"


def test_an_added_engine_keeps_its_options_and_opens_with_them(tmp_path: Path) -> None:
    share = tmp_path / "a share"
    done = run(tmp_path, "add", "slurm", f"share={tmp_path / 'share'}", "partition=gpu", "accounts=nlp=proja,cv=projb")
    assert done.exit_code == 0, done.output
    assert f"{tmp_path / 'engines.toml'}" in done.stdout
    settings = Settings(home=tmp_path)
    assert engines.configured(settings) == {
        "local": {},
        "slurm": {"share": str(tmp_path / "share"), "partition": "gpu", "accounts": "nlp=proja,cv=projb"},
    }
    opened = engines.open_engines(settings, tmp_path / "agent.pyz")
    assert set(opened) == {"local", "slurm"}
    assert (tmp_path / "engines" / "slurm").is_dir()
    assert not share.exists()


def test_the_server_may_be_started_with_some_of_them(tmp_path: Path) -> None:
    run(tmp_path, "add", "slurm", f"share={tmp_path / 'share'}")
    some = engines.configured(Settings(home=tmp_path, engines="slurm"))
    assert some == {"slurm": {"share": str(tmp_path / "share")}}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("add", "cloud"), "cloud"),
        (("add", "slurm"), "share"),
        (("add", "slurm", "share"), "key=value"),
        (("add", "slurm", "share=/a b"), "/a b"),
        (("add", "slurm", "share=/tmp/x", "colour=red"), "colour"),
        (("add", "slurm", "share=/tmp/x", "pending_s=soon"), "soon"),
        (("remove", "slurm"), "slurm"),
        (("check", "slurm"), "slurm"),
    ],
)
def test_what_an_engine_does_not_accept_is_refused_and_not_kept(
    tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    done = run(tmp_path, *words)
    assert done.exit_code == 1
    assert named in done.stderr
    assert done.stderr.startswith("× ")
    assert not (tmp_path / "engines.toml").exists()


def test_a_removed_engine_is_gone(tmp_path: Path) -> None:
    run(tmp_path, "add", "fake")
    assert run(tmp_path, "remove", "local").exit_code == 0
    assert run(tmp_path, "ls").stdout == "fake\n"


def test_a_broken_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "engines.toml").write_text("[slurm\n")
    with pytest.raises(PlatformError) as refused:
        engines.configured(Settings(home=tmp_path))
    assert refused.value.code == "bad-file"
    assert "engines.toml" in run(tmp_path, "ls").stderr


def test_books_are_compared_only_with_an_engine_that_keeps_some(tmp_path: Path) -> None:
    done = run(tmp_path, "reconcile", "local")
    assert done.exit_code == 1
    assert "keeps no accounts" in done.stderr
    assert "cloud" in run(tmp_path, "reconcile", "cloud").stderr


def test_a_check_tells_what_it_found_in_the_operators_language(tmp_path: Path) -> None:
    run(tmp_path, "add", "fake")
    told = run(tmp_path, "check", "fake")
    assert told.exit_code == 0, told.output
    assert "✓ there are nodes with devices: n1: 8 × a100" in told.stdout
    assert "✓ 有带设备的节点" in run(tmp_path, "check", "fake", HEADWAY_LANG="zh").stdout


def test_a_check_of_a_site_that_is_not_there_names_what_is_missing(tmp_path: Path) -> None:
    nowhere = f"slurm_conf={tmp_path / 'no.conf'}"
    run(tmp_path, "add", "slurm", f"share={tmp_path / 'share'}", nowhere, f"path={tmp_path}")
    told = run(tmp_path, "check", "slurm")
    assert told.exit_code == 1
    assert "✗ slurmctld answers" in told.stdout
    assert "? " in told.stdout
