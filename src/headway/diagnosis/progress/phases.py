"""The phase of each line: what the line itself says, else that of the line before it. A record always means training.

Data and patterns first: every alternative is bounded, so that a line costs what its length costs.
"""

import re
from dataclasses import dataclass, field

from headway.diagnosis.progress.record import Phase, PhaseRange

PREPARING = frozenset({Phase.TOKENISING, Phase.COMPILING})
"""Phases of single lines: the line after one of these says its own, or is start-up again."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Alternatives in lower case. A line without any of the `stems` is passed over at once: most lines are."""

    stems: tuple[str, ...]
    pattern: re.Pattern[str]

    def fits(self, low: str) -> bool:
        """Whether a line, in lower case, says it."""
        return any(stem in low for stem in self.stems) and self.pattern.search(low) is not None


def _any(stems: str, *alternatives: str) -> Wording:
    return Wording(tuple(stems.split(",")), re.compile("|".join(alternatives)))


COMPILING = _any(
    "compil,make,ninja,nvcc,extension,fused,graph,tun,dynamo,inductor",
    r"^make(?:\[\d+\])?: ",
    r"\b(?:re)?compil(?:ing|ed|ation)(?! dataset index| with )",
    r"\bninja\b|\bnvcc\b|building extension|loading extension module|fused kernels|compiler_depend",
    r"capturing (?:cuda )?graph|cuda ?graph|graph mode|autotun|triton.{0,40}tun",
    r"torch\._?(?:dynamo|inductor)|torchinductor|\[_?(?:dynamo|inductor)",
)
TOKENISING = _any(
    "token,filtering,grouping,building,packing,process",
    r"\btoken(?:is|iz)(?:ing|ation)\b|running tokenizer|filtering prompts|grouping texts",
    r"building (?:and saving )?(?:the )?(?:sample|shuffle|document) ind",
    r"packing (?:the )?(?:dataset|sequences)|pre-?processing (?:the )?dataset",
)
EVALUATION = _any(
    "eval,val,test,inference,results,sample output",
    r"run(?:ning)? (?:evaluation|eval|validation|prediction|test)\b",
    r"\b(?:evaluating|validating)\b",
    r"(?:start|begin)(?:n?ing)? (?:evaluat|validat|inference)|evaluation (?:started|done|finished)",
    r"['\"]eval_(?:loss|runtime|accuracy|\w{1,40}_per_second)['\"]: ",
    r"\[eval\]|\beval(?:uation)? results?|\beval metrics\b",
    r"\|\s*valid\s*\||results - epoch",
    r"inference done|validation (?:results|loss|generation)",
    r"\b(?:val|validation|eval)[_ ]loss\b.{0,4}\d|test_gen_batch",
    r"evaluator info|evaluatechathook|sample output|testing net",
    r"\bstep[ :]+\d+: train loss [\d.nai]+, val loss",
)
SAVING = _any(
    "sav,checkpoint,writ,stored,upload,保存,folder,stripped,snapshot",
    r"\bsav(?:ing|ed?)\b.{0,60}\b(?:checkpoint|model|ckpt|weights|state|optimizer|adapter|lora)",
    r"\bcheckpoint\b.{0,40}\bsav(?:ing|ed)\b|to save checkpoint",
    r"saving (?:ckpt|to |checkpoints?|model|(?:current )?state)",
    r"(?:configuration|config file|template|states?|weights|tokenizer) saved in|saved? checkpoint",
    r"saved (?:model|checkpoint|state) (?:to|at|in)\b|writing (?:model|checkpoint)",
    r"async(?:hronous)? (?:checkpoint )?save",
    r"checkpoints? (?:written|stored|uploaded)",
    r"保存|local_global_step_folder|optimizer stripped|snapshotting",
)
NOT_SAVING = _any(
    "will be,arg,checkpoint,sav,load,rest,resum,set",
    r"will be saved|saved arg|no (?:existing )?checkpoint|save_|saving_|loading|restor|resum",
    r"(?:tokenized|preprocessed|data)set",
)
TRAINING = _any(
    "time (ms),skipping,optimizer_step",
    r"time \(ms\) \|.{0,200}\| (?:fwd\w{0,20}|bwd\w{0,20}|forward|optimizer_step): [\d.]{1,12}",
    r"\bskipping step\b|optimizer_step: ",
)
"""Lines of training that hold no record."""
STARTUP = _any(
    "train,logging,checkpoints will,new cache",
    r"\*{3,} running training|start(?:ing)? training|begin training epoch|training \.\.\.",
    r"logging results to|checkpoints will be saved|new cache created",
)


@dataclass
class Phases:
    """Follows a log line by line; keeps the phases as ranges."""

    now: Phase = Phase.STARTUP
    has_trained: bool = False
    ranges: list[PhaseRange] = field(default_factory=list)

    def line(self, number: int, text: str, told: Phase | None, has_record: bool) -> None:
        """Place one line. What its readers say of it wins over its words, but for saving after an evaluation."""
        if told == Phase.STARTUP and self.has_trained:
            told = None  # weights are loaded for an evaluation, files fetched beside the training
        if has_record:
            phase, self.has_trained = Phase.TRAINING, True
        else:
            words = self._words(text) if told in (None, Phase.EVALUATION) else None
            phase = (words if words == Phase.SAVING else told or words) or self._after()
        self.now = phase
        self._keep(number, phase)

    def _words(self, text: str) -> Phase | None:
        low = text.lower()
        if SAVING.fits(low) and not NOT_SAVING.fits(low):
            return Phase.SAVING if self.has_trained else None
        if EVALUATION.fits(low):
            return Phase.EVALUATION
        if COMPILING.fits(low):
            return Phase.COMPILING
        return None if self.has_trained else self._words_before_training(low)

    def _words_before_training(self, low: str) -> Phase | None:
        wordings = ((TRAINING, Phase.TRAINING), (STARTUP, Phase.STARTUP), (TOKENISING, Phase.TOKENISING))
        return next((phase for wording, phase in wordings if wording.fits(low)), None)

    def _after(self) -> Phase:
        if self.now in PREPARING:
            return Phase.TRAINING if self.has_trained else Phase.STARTUP
        return self.now

    def _keep(self, number: int, phase: Phase) -> None:
        last = self.ranges[-1] if self.ranges else None
        if last is not None and last.phase == phase and last.to_line == number - 1:
            self.ranges[-1] = PhaseRange(last.from_line, number, phase)
        else:
            self.ranges.append(PhaseRange(number, number, phase))
