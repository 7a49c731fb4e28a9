"""A line as it is understood: what it says, and who said it when, as far as the line or its wrapping tells."""

from dataclasses import dataclass


@dataclass(slots=True)
class Entry:
    """One line of meaning.

    `file`: index of its file; `number`, `offset`: of the raw line it stands in; `text`: without wrapping and prefixes;
    `at`: seconds of its own clock, comparable within a job, without a zone. `numbered`: a bare number before the text,
    a rank only if the file turns out to be numbered so. `raw`: the line as it stands in the file.
    """

    file: int
    number: int
    offset: int
    raw: str
    text: str
    at: float | None = None
    rank: int | None = None
    node: str | None = None
    role: str | None = None
    pid: int | None = None
    local: int | None = None
    device: int | None = None
    numbered: int | None = None
    pod: str | None = None
    level: str | None = None
    lower: str = ""

    def __post_init__(self) -> None:
        self.lower = self.text.lower()
