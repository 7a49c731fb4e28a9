"""What people do in the console, in Chromium: on a showcase, where two weeks have happened, and on real local jobs."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headway.server.showcase.furnish import PASSWORD as PLAYED_PASSWORD
from tests.browser.conftest import DEADLINE_MS, Open, heading, picture, signed_in
from tests.live.api import Api
from tests.live.platform import Platform, free_port, wait_until
from tests.live.seeds import exhaustive

pytestmark = [pytest.mark.browser, exhaustive]

Show = Callable[..., Page]


@pytest.fixture(scope="session")
def played() -> Iterator[Api]:
    """A showcase as operators start it."""
    with tempfile.TemporaryDirectory() as folder:
        home, port = Path(folder) / "home", free_port()
        words = ["-m", "headway.server.main", "showcase", "--home", str(home), "--port", str(port), "--language", "en"]
        command = [sys.executable, *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            api = Api(f"http://127.0.0.1:{port}", home / "client.json")
            try:
                assert api.url in process.stdout.readline()
                yield api
            finally:
                api.close()
                process.terminate()
                process.wait(60)


@pytest.fixture
def show(browser: Browser, played: Api) -> Iterator[Show]:
    """Opens a page of the showcase as one of its people."""
    contexts = []

    def opening(address: str, user: str = "zhou") -> Page:
        token = played.call("POST", "login", json={"user": user, "password": PLAYED_PASSWORD})["token"]
        context = signed_in(browser, played.url, token)
        contexts.append(context)
        page = context.new_page()
        page.goto(address)
        return page

    yield opening
    for context in contexts:
        context.close()


def _job(played: Api, name: str) -> str:
    found = played.call("GET", "jobs", params={"limit": 200})["items"]
    return str(next(view["job"]["id"] for view in found if view["job"]["spec"]["name"] == name))


def test_a_job_that_hangs_is_first_on_the_overview_and_its_page_says_who_holds_it_up(show: Show) -> None:
    page = show("/")
    heading(page, "Overview")
    page.get_by_role("link", name=re.compile("llm-pretrain-13b")).first.click()
    heading(page, re.compile("llm-pretrain-13b"))
    expect(page.locator("[data-status=stalled]").first).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_text(re.compile("Rank 9 on .* holds up the job"))).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_role("heading", name="What failures cost")).to_be_visible(timeout=DEADLINE_MS)
    picture(page, "flow-stalled")


def test_a_log_is_searched_and_a_line_that_was_found_is_shown(show: Show, played: Api) -> None:
    page = show(f"/jobs/{_job(played, 'asr-large-910b')}?attempt=1&rank=0")
    page.get_by_role("searchbox", name="Search this log").fill(r"iteration +2\d{3}/")
    page.get_by_role("checkbox", name="Expression").check()
    page.get_by_role("searchbox", name="Search this log").press("Enter")
    found = page.locator(".matches button")
    expect(found.first).to_be_visible(timeout=DEADLINE_MS)
    found.first.click()
    expect(page).to_have_url(re.compile("offset="))


def test_an_operator_approves_a_grant(show: Show, played: Api) -> None:
    page = show("/usage?tab=grants")
    page.get_by_role("row").filter(has_text="qian").get_by_role("button", name="Approve").click()
    expect(page.get_by_role("row").filter(has_text="qian").get_by_text("approved")).to_be_visible(timeout=DEADLINE_MS)
    states = [view["request"]["state"] for view in played.call("GET", "grants") if view["request"]["project"] == "llm"]
    assert states == ["approved"]


def test_traffic_is_shifted_and_rolled_back_in_one_press(show: Show, played: Api) -> None:
    def shares() -> list[int]:
        split = played.call("GET", "services/llm/chat")["split"]
        return [share["weight"] for share in split["shares"]]

    before = shares()
    page = show("/services/llm/chat", "qian")
    page.get_by_label("Share of chat-7b@2").fill("75")
    page.get_by_label("Share of chat-7b@1").fill("25")
    page.get_by_role("button", name="Shift", exact=True).click()
    wait_until(lambda: shares() == [25, 75], "the shift")
    page.get_by_role("button", name="Roll back").first.click()
    wait_until(lambda: shares() == before, "the rollback")


def test_an_alert_is_acknowledged(show: Show, played: Api) -> None:
    page = show("/alerts")
    row = page.get_by_role("row").filter(has_text="node-down")
    row.get_by_role("button", name="Acknowledge").click()
    expect(row.get_by_text("zhou")).to_be_visible(timeout=DEADLINE_MS)
    seen = [
        view["alert"]["acknowledged_by"]
        for view in played.call("GET", "alerts")
        if view["alert"]["rule"] == "node-down"
    ]
    assert seen == ["zhou"]


def test_a_statement_opens_into_the_intervals_it_is_made_of(show: Show) -> None:
    page = show("/usage?tab=statement&project=llm")
    page.get_by_role("cell").locator("button[aria-expanded]").first.click()
    expect(page.get_by_role("heading", name=re.compile("held what"))).to_be_visible(timeout=DEADLINE_MS)


def test_the_dry_run_tells_the_place_before_anything_is_submitted(show: Show, played: Api) -> None:
    page = show("/submit?template=finetune&project=vision", "li")
    page.get_by_label("Name", exact=True).fill("not-yet")
    page.get_by_label("config", exact=True).fill("a.yaml")
    expect(page.get_by_text(re.compile("Place [0-9]+ of [0-9]+ in line|Starts at once"))).to_be_visible(
        timeout=DEADLINE_MS
    )
    assert all(view["job"]["spec"]["name"] != "not-yet" for view in played.call("GET", "jobs")["items"])


def test_a_real_job_is_drilled_its_verdict_read_and_it_goes_on(open_page: Open, house: Platform, token: str) -> None:
    slow = "for i in $(seq 1 600); do echo step $i/600 loss 0.5; sleep 0.5; done"
    body = {"name": "to-be-drilled", "project": "nlp", "template": "command", "parameters": {"command": slow}}
    job = house.api.call("POST", "jobs", json=body)["id"]
    page = open_page(f"/jobs/{job}", token=token)
    expect(page.locator("[data-status=running]").first).to_be_visible(timeout=DEADLINE_MS)
    page.get_by_role("button", name="Drill").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Drill").click()
    expect(page.get_by_text(re.compile("killed by a drill")).first).to_be_visible(timeout=DEADLINE_MS)
    wait_until(lambda: house.api.call("GET", f"jobs/{job}")["job"]["attempts"] == 2, "the second attempt")
    expect(page.locator("[data-status=running]").first).to_be_visible(timeout=DEADLINE_MS)
    picture(page, "flow-drill")
    house.api.call("POST", f"jobs/{job}/stop", json={})


def test_while_the_server_does_not_answer_what_was_shown_stays_and_says_of_when(open_page: Open, token: str) -> None:
    page = open_page("/cluster", token=token)
    heading(page, "Cluster")
    page.route("**/api/v1/**", lambda route: route.abort())
    expect(page.get_by_text(re.compile("reconnecting|does not answer")).first).to_be_visible(timeout=DEADLINE_MS)
    heading(page, "Cluster")


def test_a_name_of_two_hundred_characters_breaks_no_page(open_page: Open, house: Platform, token: str) -> None:
    page = open_page("/jobs", token=token)
    heading(page, "Jobs")

    def long(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        told = answer.json()
        for view in told["items"]:
            view["job"]["spec"]["name"] = "n" * 200
        route.fulfill(response=answer, json=told)  # type: ignore[attr-defined]

    body = {"name": "short", "project": "nlp", "template": "command", "parameters": {"command": "true"}}
    house.api.call("POST", "jobs", json=body)
    page.route("**/api/v1/jobs?*", long)
    page.reload()
    expect(page.get_by_text("n" * 200).first).to_be_visible(timeout=DEADLINE_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_browser_whose_clock_is_wrong_tells_the_servers_time(open_page: Open, token: str) -> None:
    page = open_page("/jobs", token=token)
    heading(page, "Jobs")
    page.clock.set_fixed_time("2031-01-01T00:00:00Z")
    page.reload()
    heading(page, "Jobs")
    assert not re.search(r"\b(1[0-9]{3}|[2-9][0-9]{2}) d", page.locator("#content").inner_text())


def test_where_half_of_the_data_is_missing_the_page_says_which_and_shows_the_rest(
    open_page: Open, house: Platform, token: str
) -> None:
    body = {"name": "half", "project": "nlp", "template": "command", "parameters": {"command": "echo step 1/1"}}
    job = house.api.call("POST", "jobs", json=body)["id"]
    wait_until(lambda: house.api.state(job) == "succeeded", "its end")
    page = open_page("/jobs", token=token)
    broken = {"status": 500, "json": {"code": "internal", "detail": "out of order"}}
    page.route("**/readings**", lambda route: route.fulfill(**broken))
    page.goto(f"/jobs/{job}")
    expect(page.get_by_text("Some of what was measured is missing")).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_text("out of order").first).to_be_visible()
    expect(page.get_by_text("step 1/1").first).to_be_visible(timeout=DEADLINE_MS)
    page.unroute("**/readings**")
    page.get_by_role("alert").get_by_role("button", name="Retry").click()
    expect(page.get_by_text("Some of what was measured is missing")).to_have_count(0, timeout=DEADLINE_MS)


def test_without_any_job_the_list_says_how_to_begin(open_page: Open, token: str) -> None:
    page = open_page("/cluster", token=token)
    page.route("**/api/v1/jobs?*", lambda route: route.fulfill(json={"items": [], "next": None}))
    page.goto("/jobs")
    expect(page.get_by_text("headway submit job.toml").first).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_role("button", name="Submit").first).to_be_visible()
