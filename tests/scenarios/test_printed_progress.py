"""Stories of jobs that report nothing themselves: their progress is read from what they print."""

from headway.server.api.showing import show_job
from headway.server.api.views import JobView
from tests.scenarios.work import Work
from tests.scenarios.world import World

MEGATRON = " iteration {step:8}/     100 | elapsed time per iteration (ms): 2000.0 | lm loss: {loss:.1f}E+00 |\n"


def _shown(world: World, job: Work) -> JobView:
    with world.platform.database.read() as c:
        return show_job(world.platform, c, job.job, {}, "en")


def _running(world: World, **fields: object) -> Work:
    job = world.submit(**fields)
    world.settle()
    job.starts()
    return job


def test_a_job_that_reports_nothing_moves_by_what_it_prints(either_world: World) -> None:
    world = either_world
    job = _running(world)
    agent = job.agents[0]
    for step in range(1, 6):
        agent.prints(0, MEGATRON.format(step=step, loss=3 - step / 10))
        world.turn("read")
        world.later_unseen(2)
    view = _shown(world, job)
    assert (job.job.step, job.job.total, job.attempt.step) == (5, 100, 5)
    assert (view.reader, view.phase, view.loss) == ("megatron", "training", 2.5)
    assert view.rate is not None
    assert round(view.rate, 3) == 0.5
    assert view.left_s == 190
    assert next(fact.step for fact in job.facts("progress-seen")) == 1


def test_the_phase_is_told_and_that_no_reader_matched(world: World) -> None:
    job = _running(world)
    assert (_shown(world, job).reader, _shown(world, job).phase) == (None, None)
    job.agents[0].prints(0, "Loading model\nRunning tokenizer on dataset (num_proc=2)\n")
    world.turn("read")
    assert (_shown(world, job).reader, _shown(world, job).phase) == (None, "tokenising")
    assert job.job.step is None


def test_the_job_s_own_reports_win(world: World) -> None:
    job = _running(world)
    agent = job.agents[0]
    agent.tells(0, "progress", step=3, total=50)
    agent.prints(0, MEGATRON.format(step=40, loss=2))
    world.turn("read")
    view = _shown(world, job)
    assert (job.job.step, job.job.total, view.reader, view.phase) == (3, 50, "sdk", "training")


def test_they_still_win_for_a_server_that_starts_again(world: World) -> None:
    job = _running(world)
    job.agents[0].tells(0, "progress", step=3, total=50)
    world.restart()
    job.agents[0].prints(0, MEGATRON.format(step=40, loss=2))
    world.turn("read")
    assert (job.job.step, _shown(world, job).reader) == (3, "sdk")
    world.turn("read")
    assert job.job.step == 3


def test_a_server_that_starts_again_goes_on_reading(world: World) -> None:
    job = _running(world)
    for step in (7, 9):
        job.agents[0].prints(0, MEGATRON.format(step=step, loss=2))
        world.turn("read")
        assert job.job.step == step
        world.restart()


def test_a_rank_that_prints_faster_than_is_read_is_read_from_its_newest_part(world: World) -> None:
    job = _running(world)
    job.agents[0].prints(0, "noise " * 200_000 + "\n" + MEGATRON.format(step=12, loss=2))
    world.turn("read")
    assert job.job.step == 12


def test_what_an_ended_attempt_printed_moves_nothing(world: World) -> None:
    job = _running(world)
    job.agents[0].prints(0, MEGATRON.format(step=12, loss=2))
    job.agents[0].all_exit(0)
    world.turn("read")
    assert (job.job.step, _shown(world, job).reader) == (None, None)


def test_the_watch_over_stalls_goes_by_what_is_printed(world: World) -> None:
    job = _running(world)
    for step in (100, 200, 300):
        job.agents[0].prints(0, MEGATRON.format(step=step, loss=2))
        world.turn("read")
        world.later_unseen(60)
    heard, news = world.platform.live.heard(job.attempt.id)
    assert (heard.steps, [step for _, step in news]) == ({0: 3}, [1, 2, 3])
    job.agents[0].prints(0, "saving checkpoint at iteration 300 to /data\n")
    world.turn("read")
    assert world.platform.printed.phase(job.attempt.id) == "save"


def test_a_time_left_that_is_printed_without_a_total_is_shown(world: World) -> None:
    job = _running(world)
    job.agents[0].prints(0, "[12/01 08:00:00 d2.utils.events]:  eta: 0:05:00  iter: 19  total_loss: 1.5  time: 0.3\n")
    world.turn("read")
    assert (_shown(world, job).left_s, _shown(world, job).reader) == (300, "detectron2")
