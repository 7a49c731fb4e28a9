"""Services: names found, versions completed, and waiting until the gateway has it."""

import json

import pytest

from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

CHAT = "/services/nlp/chat"


def test_a_bare_name_and_bare_numbers_are_enough(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/services", [canned.a_service()])
    stub.on("POST", f"{CHAT}/shift", canned.a_split(2, 90))
    ran = headway("service", "shift", "chat", "1=90", "tiny@2=10", "--reason", "try")
    assert (ran.code, ran.out) == (0, "tiny@1 90%  tiny@2 10%\n")
    assert stub.asked[-1].body == {"shares": {"tiny@1": 90, "tiny@2": 10}, "reason": "try"}


def test_a_name_in_two_projects_must_be_told_apart(stub: Stub, headway: Headway) -> None:
    other = canned.a_service()
    other["service"] = other["service"] | {"project": "vision"}
    stub.on("GET", "/services", [canned.a_service(), other])
    ran = headway("service", "show", "chat")
    assert ran.code == 2
    assert "nlp/chat, vision/chat" in ran.err


@pytest.mark.parametrize(("words", "code"), [(("nope", "1=100"), 3), (("chat", "7=100"), 3), (("chat", "1=ten"), 2)])
def test_what_is_not_there_is_not_shifted_to(stub: Stub, headway: Headway, words: tuple[str, ...], code: int) -> None:
    stub.on("GET", "/services", [canned.a_service()])
    assert headway("service", "shift", *words).code == code
    assert {asked.method for asked in stub.asked} == {"GET"}


def test_a_shift_waits_until_the_gateway_has_this_split(stub: Stub, headway: Headway) -> None:
    before = canned.a_service(live=True)
    split = canned.a_split(2, 0)
    stub.on("GET", CHAT, before, before, canned.a_service(split=split, live=False), canned.a_service(split=split))
    stub.on("POST", f"{CHAT}/shift", split)
    ran = headway("service", "shift", "nlp/chat", "1=0", "2=100", "--wait")
    assert ran.code == 0
    assert len([asked for asked in stub.asked if asked.method == "GET"]) == 4
    assert "the gateway serves nlp/chat so now" in ran.err


def test_a_shift_the_gateway_never_takes_ends_with_8(stub: Stub, headway: Headway) -> None:
    stub.on("GET", CHAT, canned.a_service(split=canned.a_split(2), live=False))
    stub.on("POST", f"{CHAT}/rollback", canned.a_split(2))
    assert headway("service", "rollback", "nlp/chat", "--wait", "--timeout", "0").code == 8


@pytest.mark.parametrize(("state", "code"), [("running", 0), ("failed", 7)])
def test_a_deployment_waits_until_it_is_ready_or_its_job_broke(
    stub: Stub, headway: Headway, state: str, code: int
) -> None:
    starting = canned.a_service()
    starting["replicas"][1]["state"] = "starting"
    stub.on("POST", "/services", starting)
    stub.on("GET", CHAT, starting, starting, canned.a_service() if state == "running" else starting)
    stub.on("GET", "/jobs/j-2", canned.a_view(), canned.a_view(canned.a_job(state=state)))
    ran = headway("service", "deploy", "chat", "tiny@2", "--project", "nlp", "--wait", "--json=url")
    assert ran.code == code
    if code == 0:
        assert json.loads(ran.out) == {"url": "http://127.0.0.1:8471/s/nlp/chat/"}
    else:
        assert "headway why j-2" in ran.err
