"""What was seen of a hang, in the reader's language.

It is kept in English, as evidence is, and read back by the messages that made it: facts of any age are told in both
languages. What no message made is told as it stands.
"""

import re
from functools import cache

from headway.domain.errors import Language, Param, message

BLANKS: dict[str, tuple[str, ...]] = {
    "stopped": (),
    "held-on": ("on",),
    "held-in": ("wchan",),
    "held": (),
    "disk-silent": ("mount",),
    "link": ("link", "carrier"),
    "desync": ("seq", "group", "operation", "others"),
    "behind": ("seq", "group", "operation"),
    "apart-at": ("own",),
    "apart": (),
    "mute": (),
    "unanswered": (),
    "waits": ("call", "on"),
    "loading": (),
    "saving": (),
    "network": ("pairs",),
    "nobody": (),
}
"""Every saying, the closer before the wider, with its blanks."""
BETWEEN = "; "
_BETWEEN: dict[Language, str] = {"en": BETWEEN, "zh": "；"}


def say(saying: str, **params: Param) -> str:
    """One saying as it is kept."""
    return message(f"hang-{saying}", params, "en")


def told(detail: str, language: Language) -> str:
    """The detail of a hang, which may be several sayings, in words of this language."""
    if language == "en":
        return detail
    return _BETWEEN[language].join(_one(each, language) for each in detail.split(BETWEEN))


def _one(kept: str, language: Language) -> str:
    for saying in BLANKS:
        found = _pattern(saying).fullmatch(kept)
        if found:
            return message(f"hang-{saying}", dict(found.groupdict()), language)
    return kept


@cache
def _pattern(saying: str) -> re.Pattern[str]:
    text = re.escape(say(saying, **{name: f"<{name}>" for name in BLANKS[saying]}))
    for name in BLANKS[saying]:
        text = text.replace(re.escape(f"<{name}>"), f"(?P<{name}>.+)")
    return re.compile(text, re.DOTALL)
