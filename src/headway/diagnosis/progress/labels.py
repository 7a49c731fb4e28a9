"""What a bar's label says it counts: training, or one of the many other things that have a bar."""

import re

from headway.diagnosis.progress import wording
from headway.diagnosis.progress.quantities import STEPS
from headway.diagnosis.progress.record import Phase

WORD = re.compile(r"[^\W\d]+")
BYTES = re.compile(r"(?:[kKMGT]i?)?B$")
SAMPLES = frozenset(
    [
        "example",
        "examples",
        "sample",
        "samples",
        "tokens",
        "token",
        "tok",
        "file",
        "files",
        "image",
        "images",
        "img",
        "doc",
        "docs",
        "row",
        "rows",
        "seq",
        "seqs",
        "prompt",
        "prompts",
    ]
)
LOADING = frozenset(
    [
        "loading",
        "fetching",
        "downloading",
        "download",
        "extracting",
        "unzipping",
        "weights",
        "shards",
        "safetensors",
        "scanning",
        "caching",
        "cache",
        "computing",
        "resolving",
        "reading",
        "collecting",
        "moving",
    ]
)


class Kind:
    """The kinds of bars. `UNKNOWN`: the label does not say."""

    TRAINING = "training"
    UNKNOWN = "unknown"
    OTHER = "other"


def judge(label: str, unit: str) -> tuple[str, Phase | None]:
    """The kind of a bar by its label and the unit of its rate, and the phase that it tells."""
    words = {word.lower() for word in WORD.findall(label.replace("_", " "))} | {label.strip(" :").lower()}
    phase = _other(words, unit)
    if phase is not None:
        return Kind.OTHER, phase
    if words & wording.ROLLOUT or "make experience" in label.replace("_", " ").lower():
        return Kind.OTHER, None
    if words & wording.TRAINING:
        return Kind.TRAINING, Phase.TRAINING
    return (Kind.UNKNOWN if not unit or unit.lower() in STEPS else Kind.OTHER), None


def _other(words: set[str], unit: str) -> Phase | None:
    if BYTES.search(unit):
        return Phase.STARTUP
    if words & {"sanity", "scanning", "caching"}:
        return Phase.STARTUP
    if words & wording.EVALUATION or {"class", "images"} <= words:
        return Phase.EVALUATION
    if words & {"writing", "saving", "uploading"} and unit not in ("examples", "example"):
        return Phase.SAVING
    if "dataset" in words and not words & wording.TRAINING:
        return Phase.TOKENISING
    if words & {"shards", "weights", "safetensors"}:
        return Phase.STARTUP
    if words & wording.TOKENISING or unit.lower() in ("examples", "example") or "chat template" in " ".join(words):
        return Phase.TOKENISING
    if words & wording.COMPILING:
        return Phase.COMPILING
    if words & LOADING or (unit.lower() in SAMPLES and not words & wording.TRAINING):
        return Phase.STARTUP
    return None
