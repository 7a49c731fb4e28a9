"""A log of ten million lines in the console, in Chromium, by its own clock: its end, jumps, scrolling.

The log is written by the real log store. Floor: the same job with a log of a thousand lines.
"""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import median

from playwright.sync_api import Page, sync_playwright

from benchmarks.console import CHROMIUM, QUIET, served, wide_job
from benchmarks.table import Goal, Result, machine, publish
from headway.domain.attempt import Attempt
from headway.server.platform import Platform

LINES, FEW = 10_000_000, 1_000
BLOCK = 20_000
FRAMES = 240
SPAN = timedelta(hours=24)
JUMPS = (0.1, 0.9, 0.35, 0.6, 0.01, 0.77)
LAST = "last line of rank {rank}"
WATCH = """() => {
  const shown = () => document.querySelector('.log li')?.textContent ?? '';
  const before = shown();
  let pressed = null;
  const rail = document.querySelector('.log .rail');
  rail.addEventListener('pointerdown', () => { pressed = performance.now(); }, {capture: true, once: true});
  window.moved = new Promise((done) => {
    const look = () => pressed !== null && shown() !== before
      ? done(performance.now() - pressed) : requestAnimationFrame(look);
    look();
  });
}"""
SCROLL = """async ([frames, by]) => {
  const box = document.querySelector('section.log');
  const found = [];
  let seen = 0, text = '';
  await new Promise((done) => {
    let before = performance.now();
    const turn = (at) => {
      found.push(at - before); before = at;
      const now = box.querySelector('li')?.textContent ?? '';
      if (now !== text) { seen += 1; text = now; }
      box.dispatchEvent(new WheelEvent('wheel', {deltaY: by, cancelable: true, bubbles: true}));
      found.length < frames ? requestAnimationFrame(turn) : done();
    };
    requestAnimationFrame(turn);
  });
  return [found.slice(5), seen];
}"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES)
    parser.add_argument("--rounds", type=int, default=3, help="visits of each place; their median counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    here = machine()

    def fill(platform: Platform) -> tuple[str, Attempt]:
        token, attempt = wide_job(platform)
        for rank, count in ((0, options.lines), (1, FEW)):
            _write(platform, attempt, rank, count)
        return token, attempt

    with served(fill) as (url, (token, attempt)), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        context = browser.new_context(locale="en-US", base_url=url, viewport={"width": 1440, "height": 900})
        context.add_init_script(f"localStorage.setItem('headway.token', '{token}')")
        context.set_default_timeout(120_000)
        goals = _measured(context.new_page(), f"/jobs/{attempt.job}", options)
        browser.close()
    rows = [("what", "measured", "target"), *((g.what, f"{g.value:,.0f}", f"{g.target:,.0f}") for g in goals)]
    title = f"a log of {options.lines:,} lines in Chromium, without a GPU"
    publish(Result("log_view", title, rows, goals[1:]), options.json, here)


def _measured(page: Page, address: str, options: argparse.Namespace) -> list[Goal]:
    _opened(page, f"{address}?rank=1", LAST.format(rank=1), 1)  # the console itself is kept from here on
    floor = _opened(page, f"{address}?rank=1", LAST.format(rank=1), options.rounds)
    end = _opened(page, f"{address}?rank=0", LAST.format(rank=0), options.rounds)
    jump = median(_jump(page, share) for share in JUMPS)
    frames, seen = page.evaluate(SCROLL, [FRAMES, 54])
    fast, _ = page.evaluate(SCROLL, [FRAMES, 1800])
    return [
        Goal("end of a log of 1,000 lines, the floor, ms", floor, "at most", 0),
        Goal(f"its end, of {options.lines:,} lines, ms", end, "at most", 1500),
        Goal("a jump to anywhere in it, ms", jump, "at most", 250),
        Goal("scrolling, P95 of a frame, ms", _p95(frames), "at most", 33),
        Goal("scrolling, frames of 100 that moved", 100 * seen / FRAMES, "at least", 90),
        Goal("scrolling by pages, P95 of a frame, ms", _p95(fast), "at most", 33),
    ]


def _opened(page: Page, address: str, wanted: str, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        page.goto(address, wait_until="commit")
        page.get_by_text(wanted).wait_for()
        times.append(float(page.evaluate("performance.now()")))
    return median(times)


def _jump(page: Page, share: float) -> float:
    """From the press on the log's bar until other lines are shown."""
    rail = page.locator(".log .rail")
    box = rail.bounding_box()
    assert box is not None
    page.evaluate(WATCH)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + share * box["height"])
    return float(page.evaluate("window.moved"))


def _p95(frames: list[float]) -> float:
    return sorted(frames)[int(0.95 * len(frames))]


def _write(platform: Platform, attempt: Attempt, rank: int, count: int) -> None:
    """Lines that arrived evenly over a day, appended to the log store as an agent would."""
    began, offset = datetime.now(UTC) - SPAN, 0
    for first in range(0, count, BLOCK):
        data = "".join(_lines(first, min(count, first + BLOCK))).encode()
        if first + BLOCK >= count:
            data += (LAST.format(rank=rank) + "\n").encode()
        at = began + SPAN * (first / count)
        platform.logs.append(attempt.id, rank, offset, data, at, at + SPAN * (BLOCK / count))
        offset += len(data)
    platform.logs.flush()


def _lines(first: int, last: int) -> Iterator[str]:
    for number in range(first, last):
        loss = 10 / (1 + number % 9973)
        yield f"[rank0] iteration {number:>9}/10000000 | lm loss: {loss:.6E} | grad norm: {number % 997 / 1000:.3f}\n"


if __name__ == "__main__":
    main()
