"""The demo's story up to the registered model, and its bill, over a real Slurm with two nodes of two devices."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples.demo import billing, cluster, serving, training
from examples.demo.story import Story

from tests.engines.slurm_testbed import running
from tests.live.slurm.site import TYPE, Site, opened

pytestmark = [pytest.mark.live, pytest.mark.timeout(420)]


@pytest.fixture
def small(shared: Path) -> Iterator[Site]:
    """A site of a testbed of its own: as many devices as the demo has slots."""
    words = ("--types", f"{TYPE}:2", "--gpus", "2", "--isolation", "net")
    with running(shared, words) as testbed, opened(testbed, is_furnished=False) as site:
        yield site


# Real torch ranks, twice.
@pytest.mark.slow
def test_the_demos_story_is_the_same_on_slurm(small: Site) -> None:
    home = small.platform.home
    story = Story()
    access = json.loads((home / "client.json").read_text())
    made = cluster.populate(home, small.platform.api.url, access["token"], TYPE)
    with made.admin, made.ann, made.bob:
        tell(story, made)


def tell(story: Story, made: cluster.Cluster) -> None:
    """Chapters 3 to 6, and the bill."""
    job, second = training.submit(story, made)
    training.watch(story, made, job, second)
    trained = training.drill(story, made, job, second)
    training.finish(story, made, trained)
    serving.register(story, made, trained)
    story.wait("the last interval", billing.settled(made))
    stated, opened_into = billing.statements(story, made)
    assert stated == opened_into > 0
    assert made.ann.job(job)["job"]["step"] == training.STEPS
    verdict = trained.verdict
    assert (verdict["rank"], verdict["fault"], verdict["owner"]) == (training.DRILLED_RANK, "killed", "nobody")
    assert trained.bill["bill"]["resumed_step"] % 20 == 0
    assert 0 <= trained.bill["lost_steps"] <= 40
    assert {one["attempt"]["engine"] for one in made.ann.attempts(job)} == {"slurm"}
