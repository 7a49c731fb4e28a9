"""Lines whose counter has no name: PyTorch's tutorial `[1, 200] loss: 1.8`, llama2.c's `10 | loss 5.3`, clu's
`[10] loss=2.3`, torchtune's `1|52|Loss: 1.2`, ESPnet's `9epoch:train:376-750batch:`, tinygrad's figures first."""

import re
from dataclasses import replace

from headway.diagnosis.progress.meaning import mean
from headway.diagnosis.progress.quantities import seconds_per_step, whole
from headway.diagnosis.progress.record import Phase, Reading, Record

TUTORIAL = re.compile(r"^\s*\[\s*(?P<epoch>\d{1,7}),\s*(?P<step>\d{1,12})\]\s+(?=.{0,40}loss)", re.IGNORECASE)
PIPED = re.compile(r"^\s*(?P<epoch>\d{1,6})\|(?P<step>\d{1,12})\|(?=\s*loss)", re.IGNORECASE)
NUMBERED = re.compile(
    r"^\s*(?:\[\s*(?P<boxed>\d{1,12})\s*\]|(?P<step>\d{1,12})\s*[|:])\s*(?=.{0,200}loss)", re.IGNORECASE
)
ESPNET = re.compile(r"\b(?P<epoch>\d{1,6})epoch:train:\d{1,9}-(?P<step>\d{1,9})batch: ")
ESPNET_TIME = re.compile(r"\btrain_time=(\d{1,6}(?:\.\d{1,6})?)")
HEADING = re.compile(
    r"^[=\-*#\s]{0,80}(?:learning )?(?:step|iteration|iter):?\s{1,3}(?P<step>\d{1,12})\s?/\s?(?P<total>\d{1,12})"
    r"[=\-*#\s:]{0,80}$",
    re.IGNORECASE,
)
BEHIND = re.compile(r"^\s*(?P<step>\d{1,12})\s+(?P<ms>\d{1,9}(?:\.\d{1,4})?) (?P<unit>ms|s) run,")
LOSS_BEHIND = re.compile(r"(?P<loss>-?\d{1,9}(?:\.\d{1,9})?|nan|inf) loss\b")
MILLISECONDS = re.compile(r"(?:^|[|,\s])(?P<value>\d{1,9}(?:\.\d{1,6})?) ?(?P<unit>ms)\b(?!/)")


def read(text: str) -> Reading | None:
    """A record of one of these layouts."""
    if (found := BEHIND.match(text)) is not None:
        return _behind(found, text)
    if (found := HEADING.match(text)) is not None:
        return _told(Record(step=int(found["step"]), total_steps=int(found["total"])))
    if "oss" not in text and "OSS" not in text:
        return None
    if "epoch:train:" in text and (found := ESPNET.search(text)) is not None:
        pace = ESPNET_TIME.search(text)
        told = mean(text[found.end() :]).record
        seconds = float(pace[1]) if pace is not None else None
        return _told(
            Record(step=int(found["step"]), epoch=float(found["epoch"]), loss=told.loss, seconds_per_step=seconds)
        )
    found = TUTORIAL.match(text) or PIPED.match(text)
    if found is not None:
        told = mean(text[found.end() :]).record
        return _told(replace(told, step=int(found["step"]), epoch=float(found["epoch"])))
    found = NUMBERED.match(text)
    if found is None:
        return None
    meaning = mean(f"step {found['boxed'] or found['step']} | {text[found.end() :]}")
    made = with_milliseconds(meaning.record, text[found.end() :])
    return _told(made) if meaning.is_progress and made.loss is not None else None


def with_milliseconds(told: Record, text: str) -> Record:
    """The time of a step that stands there without a name, as in `| 50.3ms |`."""
    if told.seconds_per_step is not None or told.step is None:
        return told
    found = MILLISECONDS.search(text)
    return told if found is None else replace(told, seconds_per_step=seconds_per_step(f"{found['value']}ms/step"))


def _behind(found: re.Match[str], text: str) -> Reading:
    loss = LOSS_BEHIND.search(text)
    pace = seconds_per_step(f"{found['ms']}{found['unit']}/step")
    return _told(
        Record(step=whole(float(found["step"])), loss=float(loss["loss"]) if loss else None, seconds_per_step=pace)
    )


def _told(made: Record) -> Reading:
    return Reading(made, Phase.TRAINING, "columns")
