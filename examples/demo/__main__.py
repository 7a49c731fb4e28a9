"""`make demo`: run the main job and tell it as it goes. Every figure is measured; nothing is written by hand."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from examples.demo import billing, cluster, serving, training
from examples.demo.cluster import Cluster
from examples.demo.serving import Load
from examples.demo.story import Story
from examples.demo.training import Training


def main() -> None:
    """Run the demo; exits non-zero when any part of it did not come true."""
    options = _options()
    home = Path(options.home or tempfile.mkdtemp(prefix="headway-demo-"))
    story = Story()
    with story.chapter("1. A platform on this machine"):
        url, token = cluster.start(home)
        story.say(f"headway-server is up at {url}, everything it keeps is in {home}")
    try:
        _run(story, home, (url, token), options.json)
        story.say(f"API docs: {url}/api/v1/docs")
        if options.keep:
            story.say(
                f"look further: HEADWAY_HOME={home} .venv/bin/headway ps -a   (and: show, why, logs, facts, usage)"
            )
    finally:
        if options.keep:
            story.say(f"left running; end it with: .venv/bin/headway-server down --home {home}")
        else:
            cluster.stop(home)
            if options.home is None:
                shutil.rmtree(home)
            story.say("the platform was stopped; `make demo KEEP=1` leaves it running")


def _run(story: Story, home: Path, access: tuple[str, str], json_file: Path | None) -> None:
    with story.chapter("2. People, quotas, data"):
        made = cluster.populate(home, *access)
        story.say("department research; projects nlp (4 slots) and vision (2); users ann (lead) and bob (member)")
        story.say(f"data set {made.dataset}: Python's standard-library sources on this machine, one byte a token")
    with story.chapter("3. Queue"):
        job, second = training.submit(story, made)
    with story.chapter("4. Run and watch"):
        training.watch(story, made, job, second)
    with story.chapter("5. Break it on purpose: kill -9 of rank 1"):
        trained = training.drill(story, made, job, second)
        training.finish(story, made, trained)
    with story.chapter("6. Register"):
        serving.register(story, made, trained)
    with story.chapter("7. Serve, shift, roll back"):
        load = serving.shift(story, made, serving.serve(story, made))
        serving.stop(story, made)
    with story.chapter("8. The bill"):
        story.wait("the last interval", billing.settled(made))
        stated, opened = billing.statements(story, made)
    with story.chapter("9. Where to go from here"):
        found = measured(story, made, trained, load) | {
            "statement_device_seconds": stated,
            "interval_device_seconds": opened,
        }
        if json_file:
            json_file.write_text(json.dumps(found, indent=1) + "\n")
    if load.failed or stated != opened:
        raise SystemExit(f"failed requests: {load.failed[:3]}, statement {stated}, intervals {opened}")


def measured(story: Story, made: Cluster, trained: Training, load: Load) -> dict[str, object]:
    """What happened, as numbers."""
    verdict = trained.verdict
    return {
        "steps": made.ann.job(trained.job)["job"]["step"],
        "resumed_step": trained.bill["bill"]["resumed_step"],
        "lost_steps": trained.bill["lost_steps"],
        "kill_to_first_step_s": trained.bill["kill_to_first_step_s"],
        "verdict": {
            "rank": verdict["rank"],
            "node": verdict["node"],
            "class": verdict["fault"],
            "owner": verdict["owner"],
        },
        "requests": load.requests,
        "failed_requests": len(load.failed),
        "wall_s": round(story.seconds, 1),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--home", help="where the platform lives (default: a new temporary folder)")
    parser.add_argument("--keep", action="store_true", help="leave the platform running")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what happened to a file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
