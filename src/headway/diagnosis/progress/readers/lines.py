"""Logger lines of every framework: `step 12/300 loss: 2.1`, `iteration 1/ 100 | … |`, HF dicts, JSON, key=value.

One grammar reads them all (`fields`, `meaning`). What a framework prints of its own decides the reader's name, and the
few places where its words mean something else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from headway.diagnosis.progress.meaning import LONG, Meaning, mean
from headway.diagnosis.progress.quantities import duration
from headway.diagnosis.progress.readers.columns import with_milliseconds
from headway.diagnosis.progress.record import Phase, Reading, Record

WORTH_READING = ("step", "iter", "epoch", "ep ", "batch", "update", "up.", "loss", "eta", "[train", "步", "轮", "迭代")
"""A line without any of these is no progress."""
LOSS_ONLY = re.compile(r"(?i)^[^=]{0,80}step[ :]+\d+: train loss [\d.naif]+, val loss [\d.naif]+\s*$")
FAIRSEQ_END = re.compile(r"(?:^|\| ?)train \| epoch \d{1,7} \||\| epoch \d{1,7} \| train loss ")
"""fairseq's line at the end of an epoch repeats the mean of what was told step by step."""
SCEPTER_TIME = re.compile(r"\[\d+mins \d+secs [\d.]+%\((?P<left>[^()]{1,40})\)\]")
WORDS_LEFT = re.compile(r"(?i)(?<![a-z])(?:remaining|left|eta)[ :=]{1,3}(?P<left>\d[^|\]]{0,32})")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a framework's lines look like, and what differs from the general grammar."""

    name: str
    sign: re.Pattern[str]
    correct: Callable[[Record, str], Record] | None = None


def _estimator(told: Record, text: str) -> Record:
    """TensorFlow's `(14.201 sec)` is the time of as many steps as it logs after."""
    return told if "sec/step" in text else replace(told, seconds_per_step=None)


def _trainer(told: Record, text: str) -> Record:
    """What callbacks add to a Trainer's dict may time a part of a step; ms-swift's `train_speed(s/it)` does not."""
    return told if "train_speed(" in text else replace(told, seconds_per_step=None)


def _scepter(told: Record, text: str) -> Record:
    found = SCEPTER_TIME.search(text)
    return told if found is None else replace(told, eta_s=duration(found["left"]))


def _without_epoch_time(told: Record, _: str) -> Record:
    """flair's `time (sec)` runs since the epoch began, Marian's since the last line."""
    return replace(told, seconds_per_step=None)


LAYOUTS = (
    Layout("nemo", re.compile(r"Training epoch \d{1,7}, iteration \d{1,12}/\d{1,12} \|")),
    Layout("megatron", re.compile(r"iteration\s+\d{1,12}/\s*(?:\d{1,12}|infinity) \|")),
    Layout("nanotron", re.compile(r"iteration: \d{1,12} / \d{1,12} \|")),
    Layout("deepspeed", re.compile(r"\] step=\d{1,12}, skipped=|^steps: \d{1,12} loss: ")),
    Layout("hf-trainer", re.compile(r"\{['\"](?:loss|train/loss)['\"]: .{0,4000}['\"]epoch['\"]: "), _trainer),
    Layout("fairseq", re.compile(r"\bnum_updates\b")),
    Layout("mindspore", re.compile(r"per_step_time: \d|per step time: \d|, step time: [\d.]{1,12} ms")),
    Layout("torchtitan", re.compile(r"\bstep:\s{0,8}\d{1,12}\s{1,4}loss: .{0,160}\b(?:tps|wps): ")),
    Layout("nanogpt", re.compile(r"\biter \d{1,12}: (?:train )?loss [\d.nai]{1,16}")),
    Layout("llm.c", re.compile(r"\bstep\s{1,8}\d{1,12}/\d{1,12} \|.{0,60}loss")),
    Layout("maxtext", re.compile(r"\bcompleted (?:step: )?\d{1,12}, ")),
    Layout(
        "mmengine",
        re.compile(r"\bEpoch ?(?:\(train\))? ?\[\d{1,7}\]\s{0,4}\[\s{0,8}\d{1,9}/\d{1,9}\]|Iter ?\(train\) ?\["),
    ),
    Layout(
        "paddle", re.compile(r"\b(?:avg_)?batch_cost: |interval_steps_per_second|^.{0,60}global step \d{1,12}, epoch: ")
    ),
    Layout("detectron2", re.compile(r"\biter: \d{1,12}  total_loss: ")),
    Layout("verl", re.compile(r"\bstep:\d{1,12} - .{0,4000}(?:actor|critic|perf|timing_s|train)/")),
    Layout("litgpt", re.compile(r"\biter \d{1,12} \|? ?step \d{1,12}\b.{0,20}\bloss")),
    Layout(
        "tensorflow", re.compile(r"global step \d{1,12}: loss = |loss = [^,]{1,24}, step = \d{1,12} \("), _estimator
    ),
    Layout("scepter", re.compile(r"Stage \[\w{1,20}\] iter: \["), _scepter),
    Layout("flair", re.compile(r"\bepoch \d{1,7} - iter \d{1,12}/\d{1,12} - loss "), _without_epoch_time),
    Layout("marian", re.compile(r"\bUp\. \d{1,12} : Sen\. "), _without_epoch_time),
    Layout("minillm", re.compile(r"global iter:\s{0,8}\d{1,12}/")),
    Layout("dllogger", re.compile(r"^DLL ")),
)
GENERAL = "general"


def read(text: str) -> Reading | None:
    """A record, or the phase of an evaluation's line; None: nothing that this grammar knows."""
    low = text.lower()
    if (
        not any(word in low for word in WORTH_READING)
        or LOSS_ONLY.match(text) is not None
        or FAIRSEQ_END.search(text) is not None
    ):
        return None
    told = mean(text)
    if not told.is_progress:
        return _other(told)
    layout = next((one for one in LAYOUTS if one.sign.search(text) is not None), None)
    made = _last_words(with_milliseconds(told.record, text), text)
    if layout is not None and layout.correct is not None:
        made = layout.correct(made, text)
    return Reading(made, Phase.TRAINING, layout.name if layout is not None else GENERAL)


def _other(told: Meaning) -> Reading | None:
    if told.is_sanity_check:
        return Reading(phase=Phase.STARTUP)
    is_counted = told.record.step is not None or told.record.epoch is not None
    is_evaluation = told.is_about_evaluation or (told.has_evaluation and told.record.loss is None and told.size < LONG)
    return Reading(phase=Phase.EVALUATION) if is_counted and is_evaluation and not told.is_about_files else None


def _last_words(told: Record, text: str) -> Record:
    if told.eta_s is not None or told.step is None:
        return told
    found = WORDS_LEFT.search(text)
    return told if found is None else replace(told, eta_s=duration(found["left"]))
