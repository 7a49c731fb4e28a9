"""What the kernel of this node said of late, as its ring buffer still holds it: for people to read beside a failure."""

from __future__ import annotations

import time

from headway.agent.node.kernel_log import KernelLog
from headway.agent.node.moments import moment_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WITHIN_S = 600.0
_MOST_LINES = 200
_LONGEST_TEXT = 400


def said(where: str = "/dev/kmsg") -> list[dict[str, Any]]:
    """The last lines of the last ten minutes, `{"t", "text"}`; none where the kernel's buffer may not be read."""
    log = KernelLog(where, None)
    lines = log.lines()
    log.close()
    now = time.time()
    told = [(moment_of(line, now), line.partition(";")[2] or line) for line in lines]
    recent = [(at, text) for at, text in told if at is not None and now - at <= _WITHIN_S]
    return [{"t": at, "text": text.strip()[:_LONGEST_TEXT]} for at, text in recent[-_MOST_LINES:]]
