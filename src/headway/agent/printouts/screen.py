"""Bytes of a print-out as plain lines: decoded, without colours, box drawing as ASCII. Decides no meaning."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_ASCII: dict[int, str | None] = {ord(char): "|" for char in "│┃║┆┊¦"}
_ASCII.update({ord(char): "-" for char in "─━┄┈"})
_ASCII.update({ord("═"): "=", ord("："): ":", ord("％"): "%", ord("\u00a0"): " ", ord("\u3000"): " ", 0: None})
_ASCII.update({code: "+" for code in range(0x250C, 0x254C)})
_ASCII.update({code: "+" for code in range(0x2552, 0x256D)})
_ASCII.update({ord("\ufeff"): None})
_LONGEST = 8 << 20


def plain(raw: bytes) -> str:
    """The text of at most 8 MiB: UTF-8, UTF-16 by its mark, else GBK; never fails."""
    raw = raw[:_LONGEST]
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            try:
                text = raw.decode("gb18030")
            except UnicodeDecodeError:
                text = raw.decode("utf-8", "replace")
    text = _COLOUR.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_ASCII).expandtabs(8)
