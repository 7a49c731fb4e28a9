"""The client against a server that refuses, breaks off, and answers late."""

import pytest

from headway.sdk.client import ApiError, Client, Unreachable
from tests.sdk.stub import BROKEN, Reply, Stub, problem


def test_every_request_carries_the_token_and_the_language(stub: Stub, api: Client) -> None:
    stub.on("GET", "/me", {"user": "ann", "roles": []})
    assert api.me()["user"] == "ann"
    asked = stub.asked[0]
    assert (asked.headers["Authorization"], asked.headers["Accept-Language"]) == ("Bearer hw_secret", "zh")


def test_a_refusal_carries_the_servers_code_words_and_params(stub: Stub, api: Client) -> None:
    stub.on("GET", "/jobs/x", problem(404, "not-found", "没有", "看看", what="job", value="x", near=None))
    with pytest.raises(ApiError) as raised:
        api.job("x")
    error = raised.value
    assert (error.code, error.status, error.params["value"]) == ("not-found", 404, "x")
    assert (error.text("en"), error.hint("en"), str(error)) == ("没有", "看看", "没有 [not-found]")


@pytest.mark.parametrize("reply", [Reply("<html>", 502), Reply(["no"], 500), Reply("<html>hello")])
def test_an_answer_of_somebody_else_is_told_from_one_of_headway(stub: Stub, api: Client, reply: Reply) -> None:
    stub.on("GET", "/me", reply)
    with pytest.raises(ApiError) as raised:
        api.me()
    assert raised.value.code == "unexpected-answer"
    assert str(raised.value.params["status"]) in raised.value.text("en")


def test_reading_is_tried_again_after_a_broken_connection(stub: Stub, api: Client) -> None:
    stub.on("GET", "/nodes", BROKEN, BROKEN, [])
    assert api.nodes() == []
    assert len(stub.asked) == 3


def test_a_submission_is_sent_again_under_one_key(stub: Stub, api: Client) -> None:
    stub.on("POST", "/jobs", BROKEN, {"id": "j-1"})
    assert api.submit({"name": "a"})["id"] == "j-1"
    first, second = (asked.headers["Idempotency-Key"] for asked in stub.asked)
    assert first == second
    assert len(first) >= 32


def test_two_submissions_have_two_keys(stub: Stub, api: Client) -> None:
    stub.on("POST", "/jobs", {"id": "j-1"})
    api.submit({"name": "a"})
    api.submit({"name": "a"})
    assert stub.asked[0].headers["Idempotency-Key"] != stub.asked[1].headers["Idempotency-Key"]


def test_what_may_not_happen_twice_is_not_sent_twice(stub: Stub, api: Client) -> None:
    stub.on("POST", "/jobs/j-1/drills", BROKEN)
    with pytest.raises(Unreachable):
        api.drill("j-1", 1)
    assert len(stub.asked) == 1


def test_nobody_listening_is_said_with_the_address() -> None:
    with Client("http://127.0.0.1:9", patience_s=0.3) as api, pytest.raises(Unreachable) as raised:
        api.me()
    assert raised.value.status == 503
    assert "http://127.0.0.1:9" in raised.value.text("zh")


@pytest.mark.parametrize("url", ["here:1", "ftp://here", "http://", "nonsense", "http://[::1"])
def test_an_address_that_is_none_fails_as_unreachable(url: str) -> None:
    with pytest.raises(Unreachable), Client(url, patience_s=0) as api:
        api.me()


def test_pages_are_read_one_after_another_up_to_the_limit(stub: Stub, api: Client) -> None:
    pages = {None: {"items": [1, 2], "next": "c"}, "c": {"items": [3], "next": None}}
    stub.on("GET", "/jobs", lambda asked: Reply(pages[asked.query.get("cursor", [None])[0]]))
    assert list(api.jobs("nlp", ["queued", "running"])) == [1, 2, 3]
    assert stub.asked[0].query == {"project": ["nlp"], "state": ["queued", "running"], "limit": ["200"]}
    assert list(api.jobs(limit=2)) == [1, 2]
    assert len(stub.asked) == 3


def test_names_with_slashes_and_spaces_stay_one_part_of_the_path(stub: Stub, api: Client) -> None:
    stub.on("GET", "/jobs/a /b?", {"ok": True})
    assert api.job("a /b?") == {"ok": True}


def test_a_log_window_says_where_it_stands(stub: Stub, api: Client) -> None:
    stub.on("GET", "/jobs/j/logs", Reply(b"\xff\r\n", headers={"X-Offset": "7", "X-Size": "10"}))
    assert api.log_window("j", 1, offset=-3) == (b"\xff\r\n", 7, 10)
    assert stub.asked[0].query["offset"] == ["-3"]


def test_nothing_is_left_in_a_body_that_was_not_given(stub: Stub, api: Client) -> None:
    stub.on("POST", "/models", {"name": "m"})
    api.register_model("m", "j-1")
    assert stub.asked[0].body == {"name": "m", "job": "j-1"}


def test_a_list_is_asked_for_page_after_page_with_the_same_question(stub: Stub, api: Client) -> None:
    pages = Reply([{"id": "g-3"}, {"id": "g-2"}], headers={"X-Next": "behind-g-2"}), Reply([{"id": "g-1"}])
    stub.on("GET", "/grants", *pages)
    assert [row["id"] for row in api.grants(project="nlp")] == ["g-3", "g-2", "g-1"]
    assert [asked.query.get("cursor") for asked in stub.asked] == [None, ["behind-g-2"]]
    assert {asked.query["project"][0] for asked in stub.asked} == {"nlp"}


def test_a_page_that_is_no_list_is_somebody_elses_answer(stub: Stub, api: Client) -> None:
    stub.on("GET", "/grants", {"hello": 1})
    with pytest.raises(ApiError) as raised:
        api.grants()
    assert raised.value.code == "unexpected-answer"
