"""Bars that are no tqdm: Lightning's and others' rich bars, Keras and PaddlePaddle bars, Ultralytics rows."""

import re
from dataclasses import dataclass, replace

from headway.diagnosis.progress import labels
from headway.diagnosis.progress.labels import Kind
from headway.diagnosis.progress.meaning import mean
from headway.diagnosis.progress.quantities import clock, duration, seconds_per_step
from headway.diagnosis.progress.record import Phase, Reading, Record

RICH = re.compile(
    r"(?P<step>\d{1,9})/(?P<total>\d{1,9}|--|\?) {1,4}(?P<elapsed>\d{1,4}:\d\d:\d\d) • "
    r"(?P<left>-:--:--|\d{1,4}:\d\d:\d\d)"
    r"(?: {1,4}(?P<rate>\d{1,9}(?:\.\d{1,4})?[a-z]{1,6}/s))?"
)
ROW = re.compile(
    r"(?P<percent>\d{1,3})% [━─╸╺ ]{1,60}(?P<step>\d{1,9})/(?P<total>\d{1,9})"
    r"(?: {1,3}(?P<rate>[\d.]{1,12}[A-Za-z]{0,4}/s|[\d.]{1,12}s/it))?"
    r" {1,4}(?P<elapsed>[\d.:]{1,12})s?(?:<(?P<left>[\d.:]{1,12})s?)?"
)
TASKS = re.compile(r"\[[> ]{1,80}\] \d{1,9}/\d{1,9}, [\d.]{1,12} task/s")
EPOCH_HEAD = re.compile(r"\s*(\d{1,6})/(\d{1,6})\s")
KERAS = re.compile(
    r"^\s*(?P<label>step )?\s*(?P<step>\d{1,9})/(?P<total>\d{1,9}|Unknown)"
    r"(?: {1,4}(?:\[[=>. ]{0,60}\]|[━ ]{1,60}))?(?P<rest>(?: | -).*)$",
    re.DOTALL,
)
KERAS_LEFT = re.compile(r"^\s{0,4}(?:- )?(?:ETA: )?(?P<left>\d{1,4}(?:s|:\d\d(?::\d\d)?)|\d{1,3}h)")
KERAS_PACE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(us|µs|ms|s)/step")
HEADER = re.compile(r"^\s*epoch:? ?\[?(\d{1,7}) ?/ ?(\d{1,7})\]?:?\s*$", re.IGNORECASE)


class Rich:
    """Rich's columns, as Lightning's RichProgressBar draws them."""

    name = "rich"

    def read(self, text: str) -> Reading | None:
        """A record where the label is training's."""
        found = RICH.search(text) if "•" in text else None
        if found is None:
            return None
        label = text[: found.start()].replace("━", " ").replace("╺", " ").replace("╸", " ").strip()
        kind, phase = labels.judge(label, "")
        if kind != Kind.TRAINING:
            return Reading(phase=phase, reader=self.name)
        told = mean(f"{label} | {text[found.end() :]}").record
        total = int(found["total"]) if found["total"].isdigit() else None
        rate = seconds_per_step(found["rate"]) if found["rate"] else None
        made = replace(
            told, step=int(found["step"]), total_steps=total, seconds_per_step=rate, eta_s=clock(found["left"])
        )
        return Reading(made, Phase.TRAINING, self.name)


class Rows:
    """Ultralytics' rows since 8.4: `1/5 0G 2.214 … 96: 33% ━━━━──── 2/6 4.3it/s 0.3s<0.9s`."""

    name = "ultralytics"

    def read(self, text: str) -> Reading | None:
        """A record where the row begins with an epoch."""
        if "task/s" in text and TASKS.search(text) is not None:
            return Reading(phase=Phase.EVALUATION, reader=self.name)
        found = ROW.search(text) if "━" in text or "─" in text else None
        if found is None:
            return None
        head = EPOCH_HEAD.match(text)
        if head is None or found.start() <= head.end():
            _, phase = labels.judge(text[: found.start()], "")
            return Reading(phase=phase, reader=self.name)
        rate = seconds_per_step(found["rate"]) if found["rate"] else None
        left = duration(found["left"]) if found["left"] else None
        made = Record(
            step=int(found["step"]),
            total_steps=int(found["total"]),
            epoch=float(head[1]),
            seconds_per_step=rate,
            eta_s=left,
        )
        return Reading(made, Phase.TRAINING, self.name)


@dataclass
class Keras:
    """Keras' bars below a header `Epoch 1/6`; a bar that begins again, or has another length, is evaluate()."""

    name = "keras"
    length: str = ""
    last: int = 0
    is_open: bool = False
    has_header: bool = False

    def read(self, text: str) -> Reading | None:
        """A header or a bar."""
        if (header := HEADER.match(text)) is not None:
            self.is_open, self.has_header, self.length, self.last = True, True, "", 0
            return Reading(Record(epoch=float(header[1])), Phase.TRAINING, self.name)
        found = KERAS.match(text)
        if found is None or not self._is_bar(found):
            return None
        if not self._is_training(found):
            return Reading(phase=Phase.EVALUATION, reader=self.name)
        return Reading(self._record(found), Phase.TRAINING, self.name)

    def _is_bar(self, found: re.Match[str]) -> bool:
        rest = found["rest"][:4000]
        is_told = "ETA:" in rest or "[=" in found.group()[:80] or found["total"] == "Unknown"
        return is_told or KERAS_PACE.search(rest) is not None

    def _is_training(self, found: re.Match[str]) -> bool:
        length, step = found["total"], int(found["step"])
        if not self.has_header and not self.length and found["total"] != found["step"]:
            self.is_open = True
        is_again = bool(self.length) and (self.length != length or step < self.last)
        if not self.is_open or is_again or mean(found["rest"]).record.loss is None:
            return False
        self.length, self.last = length, step
        return True

    def _record(self, found: re.Match[str]) -> Record:
        rest = found["rest"]
        pace = KERAS_PACE.search(rest)
        return Record(
            step=int(found["step"]),
            total_steps=int(found["total"]) if found["total"].isdigit() else None,
            loss=mean(rest).record.loss,
            seconds_per_step=seconds_per_step(f"{pace[1]}{pace[2]}/step") if pace is not None else None,
            eta_s=self._left(found),
        )

    def _left(self, found: re.Match[str]) -> float | None:
        """What stands behind `ETA:`; in Keras 3 without that word, where a full bar shows the time it took instead."""
        rest = found["rest"]
        if "ETA:" in rest:
            left = KERAS_LEFT.match(rest[rest.index("ETA:") :])
        else:
            is_running = "━" in found.group() and found["step"] != found["total"]
            left = KERAS_LEFT.match(rest) if is_running else None
        return duration(left["left"]) if left is not None else None
