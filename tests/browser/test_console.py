"""The console in Chromium: signing in, finding, submitting, and no serious fault of accessibility."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DEADLINE_MS, PASSWORD, Open, heading, picture
from tests.house.repository import REPOSITORY
from tests.live.platform import Platform
from tests.live.seeds import exhaustive

pytestmark = [pytest.mark.browser, exhaustive]

AXE = REPOSITORY / "web/node_modules/axe-core/axe.min.js"
SERIOUS = ("serious", "critical")
SCREENS = {
    "overview": ("/", "总览", "Overview"),
    "jobs": ("/jobs", "作业", "Jobs"),
    "submit": ("/submit", "提交作业", "Submit a job"),
    "cluster": ("/cluster", "集群", "Cluster"),
    "node": ("/nodes/n1", "n1", "n1"),
    "usage": ("/usage", "用量", "Usage"),
    "models": ("/models", "模型版本", "Model versions"),
    "services": ("/services", "服务", "Services"),
    "alerts": ("/alerts", "告警", "Alerts"),
    "settings": ("/settings", "设置", "Settings"),
}


def faults(page: Page) -> list[dict[str, Any]]:
    """Serious violations that axe finds on the page."""
    page.add_script_tag(path=AXE)
    found: list[dict[str, Any]] = page.evaluate("async () => (await axe.run()).violations")
    told = ("id", "impact", "help")
    return [
        {**{name: fault[name] for name in told}, "at": [node["html"][:160] for node in fault["nodes"][:3]]}
        for fault in found
        if fault["impact"] in SERIOUS
    ]


def test_signing_in_opens_the_page_that_was_asked_for(open_page: Open) -> None:
    page = open_page("/jobs")
    page.get_by_label("User name").fill("wang")
    page.get_by_role("textbox", name="Password").fill("not-the-password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=DEADLINE_MS)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    heading(page, "Jobs")
    assert page.url.endswith("/jobs")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("screen", list(SCREENS))
def test_every_screen_shows_itself_and_axe_finds_nothing_serious(
    screen: str, language: str, scheme: str, open_page: Open, token: str
) -> None:
    address, chinese, english = SCREENS[screen]
    page = open_page(address, language, scheme, token)
    heading(page, chinese if language == "zh" else english)
    expect(page.locator(".ant-skeleton")).to_have_count(0, timeout=DEADLINE_MS)
    picture(page, f"{screen}-{language}-{scheme}")
    assert faults(page) == []


def test_a_job_is_submitted_by_the_form_watched_and_found_again(open_page: Open, house: Platform, token: str) -> None:
    page = open_page("/submit", token=token)
    page.get_by_label("Name", exact=True).fill("from-the-form")
    page.get_by_label("command", exact=True).fill("for i in 1 2 3; do echo step $i/3 loss 0.$i; sleep 0.2; done")
    expect(page.get_by_text("1 node × 1 card")).to_be_visible(timeout=DEADLINE_MS)
    page.get_by_role("button", name="Submit", exact=True).click()
    heading(page, re.compile("from-the-form"))
    expect(page.locator("[data-status=succeeded]").first).to_be_visible(timeout=DEADLINE_MS)
    expect(page.get_by_text("step 3/3 loss 0.3")).to_be_visible(timeout=DEADLINE_MS)
    picture(page, "job-en-light")
    page.goto("/")
    heading(page, "Overview")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Jump to").fill("from-the-form")
    page.keyboard.press("Enter")
    heading(page, re.compile("from-the-form"))


def test_an_ended_session_asks_to_sign_in_and_keeps_the_page(open_page: Open) -> None:
    page = open_page("/cluster?lens=health", token="hw_ended")
    expect(page.get_by_text("Signed out")).to_be_visible(timeout=DEADLINE_MS)
    assert "lens=health" in page.url
