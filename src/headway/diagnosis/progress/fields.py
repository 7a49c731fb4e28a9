"""Takes a line apart into fields: a key in words, the number after it, a total, a unit. Knows no framework.

One pass over the tokens, so that a line costs what its length costs. A key is the words since the last value or
separator: `epoch 0 step 8: train_loss: 3.7665` gives epoch 0, step 8 and train loss 3.7665; `Epoch [1][50/7330]` gives
epoch 1 and a count without a key, 50 of 7330.
"""

import re
from dataclasses import dataclass, field

from headway.diagnosis.progress.quantities import is_rate, number

TOKEN = re.compile(
    r"(?P<clock>\d{1,6} days?, ?\d{1,2}:\d\d:\d\d|\d{1,6}:\d\d(?::\d\d)?(?:\.\d{1,6})?(?![\d:]))"
    r"|(?P<number>(?:(?<![\w.)\]])[-+])?(?:\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,40}|(?<!\w)(?=\.\d))(?:\.\d{0,40})?(?:[eE][-+]?\d{1,4})?"
    r"|[-+]?\b(?:nan|NaN|NAN|inf|Inf|n/a)\b)"
    r"|(?P<word>[^\W\d][\w@%]*(?:[./\-][^\W\d][\w@%]*)*\.?)"
    r"|(?P<mark>[:=(\[{)\]}/,|;\t\n*#<>•·-])"
)
WRAPPERS = frozenset(
    {"np.float64", "np.float32", "np.int64", "np.int32", "tensor", "array", "Array", "float", "jnp.array"}
)
LINKS = frozenset({"of", "out"})


@dataclass(slots=True)
class Field:
    """A number and what stands around it. `key` is its `words` in lower case, underscores as spaces.

    `value` is None for a clock and n/a; `start` is the number's place in the line.
    """

    key: str
    value: float | None
    start: int
    end: int
    unit: str = ""
    note: str = ""
    total: float | None = None
    is_clock: bool = False
    is_assigned: bool = False
    is_leading: bool = False
    words: tuple[str, ...] = ()


@dataclass(slots=True)
class Scan:
    """A line in fields, the words before and in the first key, and the keys whose value is a word."""

    fields: list[Field] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    strings: list[tuple[str, str]] = field(default_factory=list)


def scan(text: str) -> Scan:
    """The fields of a line, in order."""
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found = Scan()
        self.words: list[str] = []
        self.note = ""
        self.is_assigned = False
        self.is_total = self.has_key = False
        self.opened: list[tuple[list[str], int]] = []

    def run(self) -> Scan:
        for token in TOKEN.finditer(self.text):
            kind = token.lastgroup
            if kind == "word":
                self._word(token.group(), token.start(), token.end())
            elif kind == "mark":
                self._mark(token.group(), token.end())
            else:
                self._number(token, kind == "clock")
        return self.found

    def _number(self, token: re.Match[str], is_clock: bool) -> None:
        fields = self.found.fields
        if self.is_total and fields and not is_clock:
            fields[-1].total, fields[-1].end, self.is_total = number(token.group()), token.end(), False
            return
        words = tuple(word.lower().replace("_", " ").strip(" .") for word in self.words)
        value = None if is_clock or token.group() == "n/a" else number(token.group())
        made = Field(" ".join(words), value, token.start(), token.end(), note=self.note, is_clock=is_clock)
        made.is_assigned, made.is_leading, made.words = self.is_assigned, not self.has_key, words
        fields.append(made)
        self.has_key = self.has_key or bool(words)
        self._clear()

    def _word(self, word: str, start: int, end: int) -> None:
        last = self.found.fields[-1] if self.found.fields else None
        if last is not None and start == last.end and not last.unit:
            last.unit, last.end = word, end
            return
        if self.is_total and word.lower() in LINKS:
            return
        self.is_total = False
        if last is not None and not self.words and start - last.end <= 1 and self._is_unit(word, end):
            last.unit = last.unit or word
            return
        if last is not None and not self.words and word.lower() in LINKS and start - last.end <= 1:
            self.is_total = True
            return
        if word == "is" and self.words:
            self.is_assigned = True
            return
        if self.is_assigned:
            if word in WRAPPERS:
                return
            self.found.strings.append((" ".join(self.words).lower(), word.lower()))
            self._clear()
        if not self.has_key:
            self.found.words.append(word.lower())
        self.words.append(word)

    def _is_unit(self, word: str, end: int) -> bool:
        follows = self.text[end : end + 3].lstrip(" '\"")[:1]
        return follows not in (":", "=") and (word.lower() in UNITS or is_rate(word))

    def _mark(self, mark: str, end: int) -> None:
        if mark in ":=":
            self.is_assigned = self.is_assigned or bool(self.words)
        elif mark == "/":
            self.is_total = bool(self.found.fields) and not self.words
        elif mark == "(":
            if not (self.is_assigned and self.words and self._opens_number(end)):
                self.opened.append((self.words, len(self.found.fields)))
                self.words, self.is_assigned = [], False
        elif mark == ")":
            self._close()
        elif mark in "[{":
            if not self._opens_number(end):
                self._clear()
        elif mark == "-" and self.words and not self.is_assigned and self.text[end : end + 1].isalnum():
            return
        else:
            self._clear()

    def _opens_number(self, end: int) -> bool:
        return self.text[end : end + 12].lstrip(" '\"[(")[:1] in "0123456789-.n" and end < len(self.text)

    def _close(self) -> None:
        inside = self.words
        words, count = self.opened.pop() if self.opened else ([], -1)
        self._clear()
        if count == len(self.found.fields):
            self.words, self.note = words, " ".join(inside).lower()

    def _clear(self) -> None:
        self.words, self.note, self.is_assigned = [], "", False
        self.is_total = False


UNITS = frozenset(
    ["ms", "us", "s", "sec", "secs", "seconds", "m", "min", "mins", "minutes", "h", "hours", "days", "tflops", "gflops"]
)
