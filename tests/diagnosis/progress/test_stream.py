"""One rank's output followed in bytes: where the run stands."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.progress import Phase, Standing, Stream

LOG = b"loading\nstep 1/30 loss: 2.5\nstep 2/30 loss: 2.25\r\nsaving model checkpoint to /data\nstep 3/30 loss: nan\n"


@given(st.lists(st.integers(0, len(LOG)), max_size=8))
def test_it_reads_the_same_wherever_the_bytes_are_cut(cuts):
    stream, found, ends = Stream(), [], [0, *sorted(cuts), len(LOG)]
    for start, end in pairwise(ends):
        found.append(stream.feed(LOG[start:end]))
    assert [one for one in found if one is not None][-1] == Standing(3, 30, 2.25)
    assert (stream.reader, stream.phase) == ("general", Phase.TRAINING)


def test_a_bar_that_never_ends_its_line_is_followed_by_its_refreshes():
    stream = Stream()
    for step in range(5):
        stream.feed(f"\r {step * 10:2}%|##   | {step}/10 [00:10<00:10,  1.00it/s]".encode())
    assert stream.feed(b"") is None
    assert stream.feed(b"\r") == Standing(4, 10, None)


def test_a_counter_that_begins_again_goes_on_where_the_epoch_before_ended():
    stream = Stream()
    told = [
        stream.feed(f"Epoch {e}: 50%|#  | {s}/40 [00:01<00:01, 2.0it/s]\n".encode()) for e in (0, 1) for s in (1, 40)
    ]
    assert [one.step for one in told if one] == [1, 40, 41, 80]
    assert {one.total for one in told if one} == {None}


def test_an_announced_total_is_the_run_s():
    stream = Stream()
    assert stream.feed(b"Total optimization steps = 60\nepoch 1 step 5 loss 2.0\n") == Standing(5, 60, 2.0)


def test_a_total_beside_an_epoch_is_believed_of_a_reader_whose_counter_runs_through():
    line = b"[TRAIN] epoch: 2, iter: 130/500, loss: 1.2, batch_cost: 0.5\n"
    assert Stream().feed(line) == Standing(130, 500, 1.2)


def test_after_a_gap_half_a_line_is_no_line():
    stream = Stream()
    stream.feed(b"step 1")
    stream.skip()
    assert stream.feed(b" loss: 2.0\nstep 7 loss: 1.0\n") == Standing(7, None, 1.0)


def test_a_line_without_end_does_not_grow_without_end():
    stream = Stream()
    for _ in range(40):
        stream.feed(b"x" * 10_000)
    assert len(stream._rest) <= 64 << 10


def test_of_two_counters_the_first_is_followed_until_it_falls_silent():
    stream = Stream()
    for step in range(1, 4):
        assert stream.feed(f"[Rank 0] step={step}0, skipped=0, lr=[1e-05]\n".encode()) == Standing(
            step * 10, None, None if step == 1 else 1.5
        )
        assert stream.feed(f"[1, {step}00] loss: 1.5\n".encode()) is None
    found = [stream.feed(f"[2, {step}] loss: 1.5\n".encode()) for step in range(1, 90)]
    assert found[-1] == Standing(30 + 89, None, 1.5)
