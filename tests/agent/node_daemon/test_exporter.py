"""Cards by an exporter that a real server on this machine stands for, with pages as exporters print them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from headway.agent.node.cards import Cards
from headway.agent.node.options import OptionError, parse
from headway.agent.probes import exporter
from tests.agent.probes.scoring import PRINTOUTS
from tests.agent.witness_server import wait_for

MLU = """# HELP mlu_temperature Temperature
# TYPE mlu_temperature gauge
mlu_temperature{cluster="",mlu="0",model="MLU370-X8",sn="1",type="mlu370"} 51
mlu_utilization{cluster="",mlu="0",model="MLU370-X8",sn="1",type="mlu370"} 42
mlu_temperature{cluster="",mlu="1",model="MLU370-X8",sn="2",type="mlu370"} 53
"""


class Exporter(ThreadingHTTPServer):
    """Answers `/metrics` with `page`; None: never."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page: str | None = ""
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/metrics"


class _Handler(BaseHTTPRequestHandler):
    server: Exporter

    def do_GET(self) -> None:
        self.server.asked += 1
        page = self.server.page
        if page is None:
            time.sleep(60)
            return
        body = page.encode()
        self.send_response(200 if self.path == "/metrics" else 404)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        return


@pytest.fixture
def served() -> Iterator[Exporter]:
    with Exporter() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


@pytest.fixture(autouse=True)
def without_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def readings(cards: Cards) -> dict[tuple[int, str], float]:
    """What its first answer tells, by card and name."""
    found: list[tuple[float, int, str, float]] = []

    def read() -> bool:
        found.extend(cards.read(time.monotonic(), time.time()))
        return bool(found)

    wait_for(read, "the exporter's answer")
    cards.close()
    return {(card, name): value for _, card, name, value in found}


@pytest.mark.parametrize(
    ("maker", "page", "card"),
    [("nvidia", "nvidia/dcgm-exporter-01.txt", 0), ("ascend", "ascend/npu-exporter-01.txt", 0)],
)
def test_cards_are_read_from_the_exporter_where_no_tool_is(
    shared: Path, served: Exporter, maker: str, page: str, card: int
) -> None:
    served.page = (PRINTOUTS / page).read_text()
    cards = Cards(None, None, None, served.url)
    assert cards.maker == "cpu"
    found = readings(cards)
    expected = {(one.index, name): value for one in exporter.parse(served.page) for name, value in one.readings()}
    assert found == expected
    assert any(place == card and name == "device_temperature_celsius" for place, name in found)
    inventory = cards.inventory()
    assert inventory is not None
    assert inventory["maker"] == maker


def test_a_makers_exporter_is_known_by_its_metrics_and_only_the_wanted_cards_are_told(served: Exporter) -> None:
    served.page = MLU
    found = readings(Cards(None, frozenset({1}), None, served.url))
    assert {card for card, _ in found} == {1}
    assert found[1, "device_temperature_celsius"] == 53
    assert exporter.maker_of(MLU) == "cambricon"


def test_the_makers_own_tool_goes_first(served: Exporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served.page = MLU
    (tmp_path / "cnmon").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "cnmon").chmod(0o755)
    cards = Cards(None, None, None, served.url)
    assert cards.maker == "cambricon"
    cards.read(0.0, 0.0)
    cards.close()
    assert served.asked == 0


@pytest.mark.parametrize("page", ["", "go_goroutines 7\n", "<html>sign in</html>"])
def test_a_page_of_no_known_exporter_gives_no_cards(served: Exporter, page: str) -> None:
    served.page = page
    cards = Cards(None, None, None, served.url)
    cards.read(time.monotonic(), time.time())
    wait_for(lambda: served.asked > 0, "the exporter is asked")
    wait_for(lambda: not cards.read(time.monotonic(), time.time()) and served.asked > 1, "it is asked again")
    cards.close()
    assert (cards.maker, cards.inventory()) == ("cpu", None)


def test_an_exporter_that_is_away_or_never_answers_is_no_error(
    served: Exporter, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(exporter, "_PATIENCE_S", 0.2)
    served.page = None
    assert exporter.main([served.url]) == 1
    assert exporter.main(["http://127.0.0.1:1/metrics"]) == 1
    assert exporter.main(["file:///etc/passwd"]) == 2
    assert exporter.main([]) == 2
    assert capfdbinary.readouterr().out == b""


def test_the_exporter_is_a_url_or_refused(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("hwn_1\n")
    good = ["--server", "http://h:1", "--token-file", str(token)]
    assert parse(good).exporter is None
    assert parse([*good, "--exporter", "http://127.0.0.1:9400/metrics"]).exporter == "http://127.0.0.1:9400/metrics"
    with pytest.raises(OptionError) as refused:
        parse([*good, "--exporter", "127.0.0.1:9400"])
    assert (refused.value.code, refused.value.params["option"]) == ("invalid", "--exporter")
