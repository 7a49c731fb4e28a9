"""Reads a log line by line as it comes: which readers fit, what each line says, in which phase the job is.

Keeps a few counters and never the lines, so that it can follow a job for weeks. `read()` reads a whole log, and once
more where all of it says something else of a bar without a label than its beginning did.
"""

import re
from collections import Counter
from collections.abc import Iterable

from headway.diagnosis.progress.phases import Phases
from headway.diagnosis.progress.readers import blocks, columns, lines
from headway.diagnosis.progress.readers.bars import Bars, Drawn, find
from headway.diagnosis.progress.readers.panels import Keras, Rich, Rows
from headway.diagnosis.progress.record import Phase, Progress, Reading, Record
from headway.diagnosis.progress.text import clean, segments, without_clocks
from headway.diagnosis.progress.totals import Totals

ANNOUNCED = re.compile(
    r"(?i)(?:total (?:optimization |training |train )?(?:steps|iterations)|total optimization steps[^=:]{0,40}"
    r"|max_steps|train_iters|max_iters)"
    r"\s*(?:=|:|\.{3,})\s*(\d{1,3}(?:,\d{3})+|\d{1,12})\b"
)
DIGIT = re.compile(r"\d")
LETTERS = re.compile(r"[^\W_]")


class Session:
    """One log being read. `total`: what is known of unlabelled bars from an earlier reading."""

    def __init__(self, total: int | None = None) -> None:
        self.totals = Totals(total)
        self.phases = Phases()
        self.matched: Counter[str] = Counter()
        self.announced: int | None = None
        self.last: Record | None = None
        self._bars, self._keras = Bars(self.totals), Keras()
        self._rich, self._rows, self._blocks = Rich(), Rows(), blocks.Blocks()
        self._number = 0

    @property
    def reader(self) -> str | None:
        """The reader that matched most often, the more telling one where a bar and its logger lines both did."""
        named = {name: seen for name, seen in self.matched.items() if name not in ("tqdm", lines.GENERAL)}
        best = Counter(named).most_common(1)
        whole = self.matched.most_common(1)
        return (best[0][0] if best and best[0][1] * 20 >= whole[0][1] else whole[0][0]) if whole else None

    @property
    def phase(self) -> Phase:
        """What the job does at the last line."""
        return self.phases.now

    def feed(self, line: str) -> list[Record]:
        """Read one more line, without its line end; the records that are known by now, in order of their place."""
        self._number += 1
        parts = segments(line)
        records: list[Record] = []
        told: Phase | None = None
        has_record = False
        for index, part in enumerate(parts, 1):
            segment = index if len(parts) > 1 else None
            for reading in self._segment(clean(part), segment):
                told = reading.phase or told
                if reading.record is None:
                    continue
                record = reading.record if reading.record.line else reading.record.at(self._number, segment)
                has_record = has_record or record.line == self._number
                self.matched[reading.reader] += 1
                records.append(record)
        self.phases.line(self._number, clean(parts[-1] if len(parts) > 1 else line), told, has_record)
        self.last = records[-1] if records else self.last
        return records

    def end(self) -> list[Record]:
        """The record that was still open when the log ended."""
        reading = self._blocks.close()
        if reading is None or reading.record is None:
            return []
        self.matched[reading.reader] += 1
        return [reading.record]

    def _segment(self, text: str, segment: int | None) -> list[Reading]:
        if not text.strip():
            return []
        if self._blocks.head is not None:
            inside = next((one for one in (text, without_clocks(text)) if self._blocks.takes(one)), None)
            if inside is not None:
                self._blocks.add(inside)
                return [Reading(phase=Phase.TRAINING)]
        closed = self._blocks.close()
        found = [closed] if closed is not None else []
        for piece in text.split("\n"):
            found += self._piece(piece, segment)
        return found

    def _piece(self, text: str, segment: int | None) -> list[Reading]:
        drawn = find(text)
        if not drawn:
            reading = self._text(text, segment)
            return [reading] if reading is not None else []
        found: list[Reading] = []
        for bar in drawn:
            found += self._before(bar, text)
            found.append(self._bars.read(bar))
        rest = text[drawn[-1].end :]
        if LETTERS.search(rest) is not None and (reading := self._text(rest, segment)) is not None:
            found.append(reading)
        return found

    def _before(self, bar: Drawn, text: str) -> list[Reading]:
        """What was glued in front of a bar: a dict that ends before it."""
        glued = text[bar.start : bar.end].rfind("}")
        head = text[bar.start : bar.start + glued + 1] if 0 <= glued < len(bar.label) else ""
        reading = self._text(head, None) if head else None
        return [reading] if reading is not None else []

    def _text(self, text: str, segment: int | None) -> Reading | None:
        if DIGIT.search(text) is None:
            return None
        plain = without_clocks(text)
        if (found := ANNOUNCED.search(plain)) is not None:
            self.announced = int(found.group(1).replace(",", ""))
            self.totals.announce(self.announced)
        reading = (
            self._panels(text, plain, segment) or blocks.mindformers(text) or columns.read(plain) or lines.read(plain)
        )
        if reading is not None and reading.record is not None and reading.record.loss is not None:
            self.totals.saw_loss()
        return reading

    def _panels(self, text: str, plain: str, segment: int | None) -> Reading | None:
        opened = self._blocks.opens(plain)
        if opened is not None:
            self._blocks.place(self._number, segment)
            return opened
        return self._rich.read(text) or self._rows.read(text) or self._keras.read(plain)


def read(log: Iterable[str]) -> Progress:
    """A whole log, line by line."""
    kept = list(log)
    session = Session()
    records = _all(session, kept)
    best = session.totals.best()
    if best is not None and session.totals.training != {best}:
        again = Session(best)
        session, records = again, _all(again, kept)
    return Progress(session.reader, tuple(sorted(records, key=lambda one: one.line)), tuple(session.phases.ranges))


def _all(session: Session, kept: list[str]) -> list[Record]:
    records: list[Record] = []
    for line in kept:
        records += session.feed(line)
    return records + session.end()
