"""A real browser before a real server: Chromium of the system, the console as it was built (`make console`)."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from headway.server.console import FOLDER
from tests.house.repository import REPOSITORY
from tests.live.platform import Platform, opened

CHROMIUM = "/usr/bin/chromium"
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SCREENS = REPOSITORY / "out/screens"
PASSWORD = "a-long-password"
DEADLINE_MS = 60_000

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def house() -> Iterator[Platform]:
    """A server with two nodes of two slots, a project and a member of it who has a password."""
    assert (FOLDER / "index.html").is_file(), "run: make console"
    with opened() as platform:
        platform.api.call("POST", "users", json={"name": "wang", "password": PASSWORD})
        platform.api.call("POST", "users/wang/roles", json={"role": "admin"})
        yield platform


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser, house: Platform) -> Iterator[Open]:
    """Opens a page in a language and a theme, signed in unless told otherwise; errors of the page fail the test."""
    errors: list[str] = []
    contexts = []

    def opening(address: str, language: str = "en", scheme: str = "light", token: str | None = None) -> Page:
        locale = {"zh": "zh-CN", "en": "en-US"}[language]
        context = browser.new_context(
            locale=locale, color_scheme="dark" if scheme == "dark" else "light", bypass_csp=True, base_url=house.api.url
        )
        contexts.append(context)
        context.set_default_timeout(DEADLINE_MS)
        if token:
            context.add_init_script(f"localStorage.setItem('headway.token', '{token}')")
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    yield opening
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def token(house: Platform) -> str:
    """The token of the member."""
    told: str = house.api.call("POST", "login", json={"user": "wang", "password": PASSWORD})["token"]
    return told


def heading(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until the page is the one of this title."""
    expect(page.get_by_role("heading", level=1, name=text)).to_be_visible(timeout=DEADLINE_MS)


def signed_in(browser: Browser, url: str, token: str) -> BrowserContext:
    """A browser of its own on a server, in English, signed in."""
    context = browser.new_context(locale="en-US", bypass_csp=True, base_url=url)
    context.set_default_timeout(DEADLINE_MS)
    context.add_init_script(f"localStorage.setItem('headway.token', '{token}')")
    return context


def picture(page: Page, name: str) -> Path:
    """A screenshot of the whole page, kept for whoever looks after the run."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    path = SCREENS / f"{name}.png"
    page.screenshot(path=path, full_page=True)
    return path
