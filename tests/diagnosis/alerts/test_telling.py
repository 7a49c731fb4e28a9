"""What is told together, and how seldom."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.alerts.telling import GATHER, LINES, PAUSE, Notice, due, retry_at
from tests.builders import HOUR, NOW


def a_notice(number: int, after_s: float = 0, channel: str = "ops") -> Notice:
    return Notice(number, channel, NOW + timedelta(seconds=after_s), f"alert {number}")


def test_what_comes_together_is_one_message() -> None:
    some = [a_notice(n, n / 10) for n in range(50)]
    assert due(some, {}, NOW + GATHER / 2) == ()
    (message,) = due(some, {}, NOW + GATHER)
    assert (len(message.notices), len(message.lines), message.more) == (50, LINES, 30)


def test_a_channel_rests_between_messages_and_others_do_not_wait_for_it() -> None:
    some = [a_notice(1), a_notice(2, channel="mail")]
    told = due(some, {"ops": NOW}, NOW + GATHER)
    assert [message.channel for message in told] == ["mail"]
    assert len(due(some, {"ops": NOW}, NOW + PAUSE)) == 2


def test_a_message_that_failed_waits_longer_each_time_and_an_hour_at_most() -> None:
    waits = [retry_at(tries, NOW) - NOW for tries in range(1, 12)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (timedelta(seconds=10), HOUR)


@given(st.lists(st.tuples(st.integers(0, 600), st.sampled_from(["ops", "mail"])), max_size=80))
def test_no_notice_is_lost_or_told_twice_and_no_channel_is_flooded(plan: list[tuple[int, str]]) -> None:
    left = [a_notice(number, after, channel) for number, (after, channel) in enumerate(plan)]
    told_at: dict[str, object] = {}
    told: list[int] = []
    messages = 0
    for second in range(0, 900, 5):
        now = NOW + timedelta(seconds=second)
        for message in due([n for n in left if n.made_at <= now], told_at, now):  # type: ignore[arg-type]
            told += [notice.id for notice in message.notices]
            left = [notice for notice in left if notice not in message.notices]
            told_at[message.channel] = now
            messages += 1
    assert sorted(told) == list(range(len(plan)))
    assert messages <= 2 * (900 / PAUSE.total_seconds() + 1)
