"""Cards by an exporter of metrics on the node (dcgm-exporter, npu-exporter, mlu-exporter), for want of a maker's tool.

`headway-agent read-exporter URL` fetches the page in a process of its own; an exporter that is away, slow or of no
known maker gives no cards and is no error.
"""

from __future__ import annotations

import sys

from headway.agent.probes import port

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.agent.printouts.cards import Card

TOOLS = {"nvidia": "dcgm-exporter", "ascend": "npu-exporter", "cambricon": "mlu-exporter"}
_PATIENCE_S = 5.0
_MOST_BYTES = 8 << 20


def maker_of(text: str) -> str | None:
    """Whose cards a page of metrics tells of."""
    return next((maker for maker in TOOLS if _reader(maker).looks.search(text)), None)


def parse(text: str) -> list[Card]:
    """The cards of a page of metrics; none where it is of no known maker."""
    maker = maker_of(text)
    found = _reader(maker).read(text) if maker is not None else ()
    return [card for card in found if not isinstance(card, str)]


def main(words: Sequence[str]) -> int:
    """Print what the URL answers; 1 where it does not in time, 2 where the words are no URL."""
    if len(words) != 1 or not words[0].startswith(("http://", "https://")):
        return 2
    import urllib.request

    try:
        # The node's own exporter is asked directly, whatever proxy the environment names.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(words[0], timeout=_PATIENCE_S) as answer:
            page = answer.read(_MOST_BYTES)
    except (OSError, ValueError):
        return 1
    sys.stdout.buffer.write(page)
    return 0


def _reader(maker: str) -> port.Reader:
    return next(reader for reader in port.readers_of(maker) if reader.tool == TOOLS[maker])
