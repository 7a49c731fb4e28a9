"""The showcase: never mixed with anybody's data; and what is to be seen in it, made by the server's own code."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from headway.domain.errors import PlatformError
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.server.main import main
from headway.server.operations.nodes.cases import case_files
from headway.server.showcase.home import MARK, claim, is_showcase
from headway.server.showcase.show import play
from headway.server.showcase.stage import Stage
from headway.server.showcase.words import WORDS
from headway.store import alerts, assets, attempts, bills, facts, grants, jobs, nodes, plans, services
from tests.live.seeds import exhaustive


def test_a_home_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "headway.db"
    kept.write_text("somebody's")
    with pytest.raises(PlatformError) as refused:
        claim(tmp_path)
    assert refused.value.code == "showcase-not-empty"
    assert [path.name for path in tmp_path.iterdir()] == ["headway.db"]
    assert kept.read_text() == "somebody's"


def test_an_earlier_showcase_is_thrown_away_and_what_it_points_at_stays(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    claim(home)
    (home / "logs").mkdir()
    (home / "logs" / "old").write_text("goes")
    (home / "link").symlink_to(outside)
    claim(home)
    assert [path.name for path in home.iterdir()] == [MARK]
    assert (outside / "file").read_text() == "stays"


def test_nobody_begins_real_work_in_a_showcase(tmp_path: Path) -> None:
    claim(tmp_path / "home")
    done = CliRunner().invoke(main, ["up", "--home", str(tmp_path / "home"), "--port", "0"], env={"HEADWAY_LANG": "en"})
    assert done.exit_code == 1
    assert "[showcase-home]" in done.stderr
    assert is_showcase(tmp_path / "home")


def test_a_folder_that_is_not_empty_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    words = ["showcase", "--home", str(tmp_path), "--port", "0"]
    done = CliRunner().invoke(main, words, env={"HEADWAY_LANG": "zh"})
    assert done.exit_code == 1
    assert "不是空目录" in done.stderr
    assert "演出" not in done.stderr
    assert (tmp_path / "thesis.tex").exists()


def test_every_sentence_of_it_is_there_in_both_languages() -> None:
    assert all(text["zh"].strip() and text["en"].strip() for text in WORDS.values())
    assert all(text["zh"] != text["en"] for text in WORDS.values())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("showcase") / "home"
    claim(home)
    stage = play(home, 8470, "zh")
    yield stage
    stage.close()


@pytest.fixture
def works(played: Stage) -> dict[str, Job]:
    """Every job by its name."""
    with played.platform.database.read() as c:
        return {job.spec.name: job for job in jobs.in_states(c, *JobState)}


@exhaustive
def test_a_job_hangs_now_and_is_explained_with_stacks_after_a_drill_and_its_bill(
    played: Stage, works: dict[str, Job]
) -> None:
    hung = works["llm-pretrain-13b"]
    with played.platform.database.read() as c:
        kinds = [fact.kind for fact in facts.all(c, job=hung.id)]
        (bill,) = bills.of_job(c, hung.id)
        newest = attempts.of_job(c, hung.id)[-1]
    assert kinds[-2:] == ["stalled", "stall-explained"]
    assert (hung.state, newest.number) == ("running", 2)
    assert bill.lost_steps > 0
    seen = played.platform.scenes.of_attempt(newest.id)
    assert {node for _, node, _ in seen} == {placement.node for placement in newest.placements}
    losses = played.platform.readings.series(newest.id, "loss", rank=0)[0].points
    assert losses[0].mean > losses[-1].mean + 0.1
    assert b"lm loss" in played.platform.logs.read(newest.id, 0, 0, 1 << 16)


@exhaustive
def test_jobs_wait_break_end_and_are_stopped(played: Stage, works: dict[str, Job]) -> None:
    assert {job.state for job in works.values()} >= {"running", "queued", "succeeded", "failed", "stopped"}
    waiting = [job for job in works.values() if job.state == "queued"]
    with played.platform.database.read() as c:
        ranges = [forecast for job in waiting if (forecast := plans.forecast(c, job.id)) is not None]
        assert all(plans.waits(c, job.id) is not None for job in waiting)
    assert len(waiting) >= 4
    assert any(forecast.p50 is not None for forecast in ranges)


@exhaustive
def test_people_and_machines_left_their_marks(played: Stage) -> None:
    with played.platform.database.read() as c:
        states = {node.name: node.state for node in nodes.all(c)}
        asked = sorted(grant.state for grant in grants.all(c))
        shares = [[share.weight for share in split.shares] for split in services.splits(c, "chat", "llm")]
        lineages = [version.lineage for version in assets.models(c)]
        now = played.now
        levels = {file.node.name: file.suspicion.level for file in case_files(c, now, now - timedelta(days=30))}
        is_open = [record.rule for record in alerts.still_open(c)]
    assert [name for name, level in levels.items() if level == "suspect"] == ["h07"]
    assert (states["h07"], states["h12"], states["a06"]) == ("cordoned", "cordoned", "down")
    assert asked == ["denied", "expired", "requested", "requested"]
    assert shares == [[100], [95, 5], [75, 25], [50, 50]]
    assert [lineage.dataset for lineage in lineages] == ["web-mix@1", "web-mix@1"]
    assert "node-down" in is_open
