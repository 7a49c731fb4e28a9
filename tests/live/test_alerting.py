"""Alerts for real: a webhook that is away, a server that is killed, a real Alertmanager; nothing is lost, no storm."""

import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import ABSENT
from tests.live.jobs import TEMPLATE, Work
from tests.live.platform import Platform, free_port, opened, wait_for, wait_until

pytestmark = pytest.mark.live
BINARY = "prometheus-alertmanager"


@contextmanager
def webhook(port: int) -> Iterator[list[str]]:
    """A receiver of Apprise's JSON messages: their texts as they come."""
    told: list[str] = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.append(sent["message"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def alertmanager(tmp_path: Path) -> Iterator[str]:
    """A real Alertmanager's URL."""
    if shutil.which(BINARY) is None:
        pytest.skip(f"{ABSENT}{BINARY}: not on PATH")
    config = tmp_path / "alertmanager.yml"
    config.write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
    url = f"http://127.0.0.1:{free_port()}"
    listens = [f"--web.listen-address={url.removeprefix('http://')}", "--cluster.listen-address="]
    command = [BINARY, f"--config.file={config}", f"--storage.path={tmp_path / 'am'}", *listens]
    with (tmp_path / "am.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_until(lambda: _is_ready(url), "Alertmanager is ready", (tmp_path / "am.log").read_text)
            yield url
        finally:
            process.terminate()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/-/ready", trust_env=False).is_success
    except httpx.TransportError:
        return False


def _standing(url: str) -> set[tuple[str, str]]:
    found = httpx.get(f"{url}/api/v2/alerts", params={"active": True}, trust_env=False).json()
    return {(alert["labels"]["alertname"], alert["labels"]["subject"]) for alert in found}


def test_an_alert_outlives_a_webhook_that_is_away_and_a_server_that_is_killed(alertmanager: str) -> None:
    with opened(alertmanager_url=alertmanager) as platform:
        api = platform.api
        api.call("POST", "templates", json={"content": TEMPLATE})
        port = free_port()
        api.call("PUT", "channels/ops", json={"url": f"json://127.0.0.1:{port}/", "language": "en"})
        rule = {"watches": "silence", "above": 3, "recipients": ["ops"]}
        assert api.call("PUT", "alert-rules/silent", json=rule)["rule"]["threshold"] == 3
        api.call("PUT", "alert-rules/ended", json={"watches": "fact:job-ended", "recipients": ["ops"]})
        work = Work(platform, "silent").submit()
        wait_until(lambda: _fired(platform, "silent"), "the silence fires", work.story)
        wait_until(lambda: _standing(alertmanager) == {("silent", f"job/{work.id}")}, "Alertmanager has it")
        wait_until(lambda: api.call("GET", "channels")[0]["waiting"], "the webhook is missed")
        platform.kill()
        platform.start()
        platform.wait_until_up()
        api.call("POST", f"jobs/{work.id}/stop", json={})
        wait_until(lambda: _standing(alertmanager) == set(), "Alertmanager knows that it is over")
        with webhook(port) as told:
            wait_until(lambda: "ended: Job ended" in "\n".join(told), "the webhook is told", platform.log_tail)
            wait_for(lambda: _nothing_waits(platform), "everything is told")
        lines = "\n".join(told).splitlines()
        assert [sum(line.startswith(start) for line in lines) for start in ("silent: ", "over: silent", "ended: ")] == [
            1
        ] * 3
        assert len(told) <= 2
        scraped = api.answered("GET", "../../metrics").text
        assert "headway_facts_total" in scraped
        assert 'headway_nodes{device_type="cpu",engine="local",state="up"} 2.0' in scraped


def _fired(platform: Platform, rule: str) -> list[Any]:
    return [row for row in platform.api.call("GET", "alerts") if row["alert"]["rule"] == rule]


def _nothing_waits(platform: Platform) -> bool | None:
    text = platform.api.answered("GET", "../../metrics").text
    return "headway_notices_waiting 0.0" in text or None
