"""Streams: what is told arrives once, in order, also over broken connections."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sdk.client import ApiError, Client, Event, Unreachable
from headway.sdk.client.stream import events
from tests.sdk.stub import BROKEN, Stub, problem, sse

LOGS = "/jobs/j/logs/stream"


@given(st.lists(st.tuples(st.sampled_from(["log", "end"]), st.integers(0, 99), st.text())))
def test_what_was_written_is_read(written: list[tuple[str, int, str]]) -> None:
    lines = [
        line
        for kind, place, data in written
        for line in (f"event: {kind}", f"data: {json.dumps(data)}", f"id: {place}", "", ": ping", "")
    ]
    assert list(events(lines)) == [Event(kind, str(place), data) for kind, place, data in written]


def test_half_an_event_at_the_end_is_passed_over() -> None:
    assert list(events(["data: 1", "", "data: 2"])) == [Event("message", None, 1)]


def test_a_log_is_followed_to_its_end(stub: Stub, api: Client) -> None:
    stub.on("GET", LOGS, sse(("log", "3", "a\rb"), ("log", "6", "你"), ("end", "6", "")))
    assert [event.data for event in api.follow_log("j", 2)] == ["a\rb", "你"]
    assert stub.asked[0].query == {"rank": ["2"], "offset": ["0"]}


def test_a_stream_that_breaks_is_taken_up_where_it_was(stub: Stub, api: Client) -> None:
    half = sse(("log", "3", "abc"), tail='event: log\ndata: "de')
    stub.on("GET", LOGS, half, BROKEN, sse(("log", "5", "de"), ("end", "5", "")))
    assert "".join(event.data for event in api.follow_log("j")) == "abcde"
    assert [asked.query["offset"] for asked in stub.asked] == [["0"], ["3"], ["3"]]


def test_facts_go_on_after_the_last_one_seen(stub: Stub, api: Client) -> None:
    stub.on("GET", "/facts/stream", sse(("a", "1", {"seq": 1})), sse(("b", "2", {"seq": 2})))
    following = api.follow_facts(job="j")
    assert [next(following)["seq"], next(following)["seq"]] == [1, 2]
    assert [asked.query["after"] for asked in stub.asked] == [["0"], ["1"]]


def test_a_refused_stream_is_an_error_in_the_servers_words(stub: Stub, api: Client) -> None:
    stub.on("GET", LOGS, problem(403, "forbidden", "nicht"))
    with pytest.raises(ApiError) as raised:
        next(api.follow_log("j"))
    assert (raised.value.code, raised.value.text("en")) == ("forbidden", "nicht")


def test_a_stream_from_nobody_ends_in_unreachable() -> None:
    with Client("http://127.0.0.1:9", patience_s=0.2) as api, pytest.raises(Unreachable):
        next(api.follow_log("j"))
