"""Takes secrets out of what leaves the house: values known to be secret, and texts of the shapes that secrets have.

Errs on the side of taking out: a word lost from a log costs little. Every pattern is bounded, so that hostile lines
cost no more than others. Never keeps or tells what it took out, only how often.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

GONE = "***"
LEAST = 6
"""Shorter values are too common a word to be taken out wherever they stand."""

_NAME = (
    r"(?:token(?!s|iz)|secret|passw(?:or)?d|passwd|credential|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|authorization)"
)
_SECRET_NAME = re.compile(rf"(?:^|[\W_]){_NAME}(?:[\W_]|$)|(?:^|_)(?:ak|sk|pwd|pass)(?:_|$)|signature$", re.IGNORECASE)
_PLAIN = re.compile(r"(?:[\d.eE+-]+|true|false|none|null|\*+)$", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?P<name>{_NAME}[\w.-]{{0,20}})(?P<mark>[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?)"
    r"(?P<value>[^\s\"',;&}]{3,4096})",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"(?P<name>(?<![\w-])--?[\w-]{{0,30}}{_NAME}[\w-]{{0,20}})(?P<mark>\s{{1,3}})(?P<value>[^\s-]\S{{2,4096}})",
    re.IGNORECASE,
)
_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,16384}?-----END [A-Z ]{0,30}PRIVATE KEY-----"
    r"|(?<=://)[^\s/@:\"']{1,256}:[^\s/@\"']{1,256}(?=@)"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bLTAI[0-9A-Za-z]{12,28}\b|\bAKID[0-9A-Za-z]{13,40}\b"
    r"|\bhf_[A-Za-z0-9]{20,64}\b|\bsk-[A-Za-z0-9_-]{20,200}|\bgh[pousr]_[A-Za-z0-9]{20,255}\b|\bglpat-[\w-]{15,64}"
    r"|\bxox[abprs]-[\w-]{10,250}|\beyJ[\w-]{10,4096}\.[\w-]{10,4096}\.[\w-]{5,4096}|\bAIza[\w-]{35}"
)
_BEARER = re.compile(r"\b(?P<name>bearer|basic)(?P<mark>\s{1,3})(?P<value>[A-Za-z0-9._~+/=-]{8,4096})", re.IGNORECASE)
_SIGNED = re.compile(
    r"(?P<name>[?&](?:X-Amz-(?:Signature|Credential|Security-Token)|Signature|OSSAccessKeyId|AWSAccessKeyId|sig))"
    r"(?P<mark>=)(?P<value>[^\s&\"']{3,4096})"
)


class Scrubber:
    """Takes out what is known to be secret besides what looks like it. `removed`: how often it took something out."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        words = sorted({word for word in secrets if len(word) >= LEAST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, words))) if words else None
        self.removed = 0

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if self._known is not None:
            text = self._known.sub(self._gone, text)
        text = _SHAPES.sub(self._gone, text)
        for pattern in (_BEARER, _SIGNED, _OPTION, _ASSIGNED):
            text = pattern.sub(self._without_value, text)
        return text

    def data(self, data: bytes) -> bytes:
        """The same of bytes in any encoding that holds ASCII."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def value(self, value: Any, name: str = "") -> Any:
        """The same of a JSON value: whatever stands under a name that says it is secret, and every text."""
        if isinstance(value, Mapping):
            return {key: self.value(inner, str(key)) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner, name) for inner in value]
        if not isinstance(value, str):
            return value
        if is_secret(name, value):
            self.removed += 1
            return GONE
        return self.text(value)

    def _gone(self, _found: re.Match[str]) -> str:
        self.removed += 1
        return GONE

    def _without_value(self, found: re.Match[str]) -> str:
        if _PLAIN.match(found["value"]):
            return found[0]
        self.removed += 1
        return f"{found['name']}{found['mark']}{GONE}"


def is_secret(name: str, value: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return bool(value) and not _PLAIN.match(value) and bool(_SECRET_NAME.search(name))
