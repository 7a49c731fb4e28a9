"""A log followed as it comes: bars without a label, blocks, glued lines, phases, hostile lines."""

import time

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.progress import Phase, Session, read

HOSTILE = st.sampled_from(
    [
        "|",
        "[",
        "]",
        "{",
        "(",
        "1",
        "1,234",
        "/",
        ":",
        "=",
        "loss",
        "step ",
        "epoch ",
        "%|",
        "<",
        "eval_",
        "\x1b[",
        "\x08",
        "1:",
        "a.",
        "- ",
        "save ",
        "checkpoint ",
        "━",
        "=",
        ">",
        " ",
        "val",
        "_",
        "e",
        "ETA: ",
        "it/s",
        "time (ms) |",
    ]
)


def bar(step, total, tail=""):
    return f"{step * 100 // total:3}%|##        | {step}/{total} [00:10<00:10,  1.00it/s{tail}]"


def steps(lines):
    return [record.step for record in read(lines).records]


def phases(lines):
    return [(one.from_line, one.to_line, str(one.phase)) for one in read(lines).phases]


def test_refreshes_of_one_line_are_told_apart_by_their_segment():
    found = read(["\r" + "\r".join(bar(step, 40) for step in (0, 1, 2))])
    assert [(record.line, record.segment, record.step) for record in found.records] == [(1, 2, 0), (1, 3, 1), (1, 4, 2)]


def test_a_bar_nested_in_the_training_bar_is_an_evaluation():
    lines = [bar(0, 40), bar(20, 40), bar(0, 6), bar(6, 6), bar(21, 40)]
    assert steps(lines) == [0, 20, 21]
    assert phases(lines) == [(1, 2, "training"), (3, 4, "evaluation"), (5, 5, "training")]


def test_an_announced_total_picks_the_training_bar_though_another_came_first():
    assert steps(["Total optimization steps = 4,575", bar(0, 99), bar(50, 99), bar(1, 4575)]) == [1]


def test_a_loss_beside_a_later_bar_picks_it_when_the_whole_log_is_read():
    lines = [bar(0, 99), bar(50, 99), bar(99, 99)]
    for step in (1, 2, 3):
        lines += [bar(step, 40), f"{{'loss': {step}.5, 'epoch': 0.1}}"]
    assert steps(lines) == [1, None, 2, None, 3, None]


def test_a_bar_first_seen_full_is_no_training():
    assert steps(["100%|##########| 540/540 [01:12<00:00,  7.45it/s]"]) == []


def test_a_logger_line_glued_to_a_bar_is_a_second_record():
    found = read([bar(8, 64) + "12/01/2026 02:38:54 - INFO - epoch 0 step 8: train_loss: 3.7665"])
    assert [(record.step, record.loss) for record in found.records] == [(8, None), (8, 3.7665)]


def test_a_dict_glued_before_a_bar_is_a_record_of_its_own():
    found = read(["{'loss': 1.5, 'epoch': 0.1}          " + bar(8, 64)])
    assert [(record.step, record.loss) for record in found.records] == [(None, 1.5), (8, None)]


def test_a_block_of_several_lines_is_one_record_at_its_head():
    lines = [
        "[batch=3/480]:",
        "\t Train time/epoch: 1",
        "\t Train time/batch: 2",
        "\t Train loss/train/total: 2.5",
        "done",
    ]
    (record,) = read(lines).records
    assert (record.line, record.step, record.total_steps, record.epoch, record.loss) == (1, 3, 480, 1, 2.5)
    assert record.seconds_per_step is None


def test_a_block_that_the_log_ends_in_is_not_lost():
    assert steps(["[step=3/480]", "    train/loss=2.5"]) == [3]


def test_the_phases_of_a_run_are_told_apart():
    lines = [
        "Loading model",
        "Running tokenizer on dataset: 50%|#  | 5/10 [00:01<00:01, 5.00 examples/s]",
        "model on device",
    ]
    lines += ["> compiling and loading fused kernels ...", "ready", "step 1 loss: 2.5", "warning: something"]
    lines += [
        "***** Running Evaluation *****",
        "  Num examples = 12",
        "Saving model checkpoint to /data/ck",
        "ok",
        "step 2 loss: 2.4",
    ]
    assert [phase for _, _, phase in phases(lines)] == [
        "startup", "tokenising", "startup", "compiling", "startup", "training", "evaluation", "saving", "training",
    ]  # fmt: skip


def test_a_session_follows_line_by_line_and_knows_its_reader_and_phase():
    session = Session()
    assert (session.reader, session.phase) == (None, Phase.STARTUP)
    (record,) = session.feed(
        " iteration        5/     100 | elapsed time per iteration (ms): 500.0 | lm loss: 2.0E+00 |"
    )
    assert (record.step, session.reader, session.phase) == (5, "megatron", Phase.TRAINING)
    assert session.feed("saving checkpoint at iteration 5 to /data") == []
    assert (session.phase, session.last) == (Phase.SAVING, record)


def test_an_endless_log_keeps_no_lines():
    session = Session()
    for step in range(2000):
        session.feed(f"step {step} loss: 1.5")
    assert len(session.phases.ranges) == 1


@given(st.lists(HOSTILE, min_size=1, max_size=12), st.integers(1, 3000))
def test_a_hostile_line_costs_what_its_length_costs(parts, times):
    line = "".join(parts) * times
    began = time.process_time()
    read([line[:60_000]])
    assert time.process_time() - began < 2


@given(st.lists(st.text(max_size=200), max_size=20))
def test_any_text_is_read_without_an_error_and_every_line_has_one_phase(lines):
    lines = [line.replace("\n", " ") for line in lines]
    found = read(lines)
    covered = [number for one in found.phases for number in range(one.from_line, one.to_line + 1)]
    assert covered == list(range(1, len(lines) + 1))
    assert all(1 <= record.line <= len(lines) for record in found.records)
