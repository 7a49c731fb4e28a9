"""What each framework's checkpoint looks like, when it is complete and of which step it is.

A rule looks at one folder: it says None where the folder is nothing of its framework's, else the step (UNKNOWN: nothing
tells it), and raises Damaged where the checkpoint is not one to go on from. "unfinished": what its framework writes
last is not there.
"""

from __future__ import annotations

import re

from headway.agent.checkpoints import archives, inert
from headway.agent.checkpoints.folder import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from headway.agent.checkpoints.folder import Folder

    Rule = Callable[[Folder], "int | None"]

UNKNOWN = -1
TRACKER, LATEST, METADATA, STATE = "latest_checkpointed_iteration.txt", "latest", ".metadata", "trainer_state.json"
COMMON = "common.pt"
"""What Megatron's ranks hold alike, which it writes before the shards."""
_MEGATRON = re.compile(r"iter_(\d{7,12})", re.ASCII)
PARALLEL = re.compile(r"mp_rank_(\d{2,6})(?:_(\d{3,6}))?(?:_(\d{3,6}))?", re.ASCII)
_TRAINER = re.compile(r"checkpoint-(\d{1,12})", re.ASCII)
_ACCELERATE = re.compile(r"checkpoint_(\d{1,12})", re.ASCII)
_TAG = re.compile(r"global_step(\d{1,12})", re.ASCII)
MODEL = re.compile(r"(?:zero_pp_rank_(\d+)_)?mp_rank_(\d+)(?:_model_states)\.pt", re.ASCII)
OPTIMIZER = re.compile(r"(?:bf16_)?zero_pp_rank_(\d+)_mp_rank_(\d+)_optim_states\.pt", re.ASCII)
RANDOM = re.compile(r"(?:rng_state|random_states)_(\d+)\.(?:pth|pkl)", re.ASCII)
_SHARD = re.compile(r"__\d+_\d+\.distcp", re.ASCII)
_STEP = re.compile(
    r"(?:^|[^a-z])(?:step|iter|iteration|global_step|ckpt|checkpoint|model)[-_=]?(\d{1,12})|^(\d{1,12})$",
    re.ASCII | re.IGNORECASE,
)
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "adapter_model.safetensors", "adapter_model.bin")
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


def trainer(folder: Folder) -> int | None:
    """Hugging Face Trainer: `checkpoint-500/`, with FSDP or DeepSpeed inside where it trained so."""
    named = _TRAINER.fullmatch(folder.name)
    if not named or not (STATE in folder.files or _has_weights(folder)):
        return None
    step = int(named[1])
    told = inert.number(archives.read_table(folder, STATE), "global_step") if STATE in folder.files else None
    if told is None:
        raise Damaged("unfinished", f"{STATE} is missing")
    if told != step:
        raise Damaged("wrong-step", f"{STATE} says {told}")
    _check_state(folder, "optimizer.pt")
    return step


def accelerate(folder: Folder) -> int | None:
    """Accelerate's `save_state`: `checkpoint_5/`; the number is its own count of saves."""
    named = _ACCELERATE.fullmatch(folder.name)
    if not named or not _has_weights(folder):
        return None
    if not any(RANDOM.fullmatch(name) for name in folder.files):
        raise Damaged("unfinished", "random_states_0.pkl is missing")
    _check_state(folder, "optimizer.bin")
    return int(named[1])


def megatron(folder: Folder) -> int | None:
    """Megatron-LM: `iter_0000500/`, of ranks or distributed; its tracker is written when every rank has saved."""
    named = _MEGATRON.fullmatch(folder.name)
    ranks = [name for name in folder.folders if PARALLEL.fullmatch(name)]
    if not named or not (ranks or METADATA in folder.files or _shards(folder)):
        if named and COMMON in folder.files:
            raise Damaged("unfinished", "no shards are there")
        return None
    step, parent = int(named[1]), folder.parent
    if parent is None or TRACKER not in parent.files:
        raise Damaged("unfinished", f"{TRACKER} is missing")
    newest = parent.read(TRACKER, 64).strip()
    if newest != b"release" and (not newest.isdigit() or int(newest) < step):
        raise Damaged("unfinished", f"{TRACKER} says {newest.decode('ascii', 'replace')}")
    if not ranks:
        distributed(folder)
        return step
    _check_grid(ranks, PARALLEL)
    for name in ranks:
        with folder.below(name) as rank:
            if not rank.files:
                raise Damaged("missing-file", f"{name}: nothing in it")
            _check_all(rank)
    return step


def deepspeed(folder: Folder) -> int | None:
    """DeepSpeed: `global_step500/` or any tag; `latest` beside it is written when every rank has saved."""
    models = [name for name in folder.files if MODEL.fullmatch(name)]
    optimizers = [name for name in folder.files if OPTIMIZER.fullmatch(name)]
    if not models and not optimizers:
        return None
    step = _tagged_step(folder, models)
    _check_latest(folder, step)
    if not models:
        raise Damaged("missing-file", "no model states")
    _check_grid(models, MODEL)
    _check_grid(optimizers, OPTIMIZER)
    _check_all(folder)
    return step


def distributed(folder: Folder) -> int | None:
    """torch DCP, as torchtitan and Lightning write it: `.metadata`, written last, names every shard and its length."""
    if METADATA not in folder.files:
        if not _shards(folder):
            return None
        raise Damaged("unfinished", f"{METADATA} is missing")
    try:
        metadata = inert.read(folder.read(METADATA, 512 << 20))
    except ValueError as problem:
        raise Damaged("cut-short", f"{METADATA}: {problem}") from None
    stored = metadata.get("storage_data") if isinstance(metadata, inert.Thing) else None
    if not isinstance(stored, dict):
        raise Damaged("not-an-archive", f"{METADATA}: no storage_data")
    for name, end in sorted(_ends(stored).items()):
        if folder.size(name) < end:
            raise Damaged("cut-short", f"{name} has {folder.size(name)} bytes, {METADATA} says {end}")
    _check_all(folder)
    return _known(_beside(folder), named_step(folder.name))


def single(folder: Folder, name: str) -> int:
    """One file of a series: its step as the file says, else as its name does. Raises Damaged."""
    archives.check_archive(folder, name)
    told = inert.number(archives.peek(folder, name), "global_step", "step", "iteration", "iter_num", "iter", "steps")
    return _known(told, named_step(name.rpartition(".")[0]))


def named_step(name: str) -> int | None:
    """The step a name says; an epoch is none."""
    found = _STEP.search(name)
    return int(found[1] or found[2]) if found else None


RULES: tuple[tuple[str, Rule], ...] = (
    ("trainer", trainer),
    ("accelerate", accelerate),
    ("megatron", megatron),
    ("deepspeed", deepspeed),
    ("dcp", distributed),
)
"""In the order they are asked: the first that knows a folder speaks for it."""


def _has_weights(folder: Folder) -> bool:
    if any(name in folder.files for name in (*_WEIGHTS, *_INDEXES)):
        return True
    return any(name.startswith(("pytorch_model_fsdp", "global_step")) for name in folder.folders)


def _check_state(folder: Folder, optimizer: str) -> None:
    """Weights, an optimizer and every rank's random numbers, whole; each may be a folder of shards instead."""
    inner = _check_inner(folder)
    for name in _INDEXES:
        if name in folder.files:
            archives.check_index(folder, name)
    if not inner and optimizer not in folder.files:
        raise Damaged("weights-only", f"{optimizer} is missing: training cannot go on from it")
    _check_grid([name for name in folder.files if RANDOM.fullmatch(name)], RANDOM)
    _check_all(folder)


def _check_inner(folder: Folder) -> int:
    """How many folders of shards there are in it, each checked."""
    found = 0
    for name in folder.folders:
        with folder.below(name) as inner:
            found += any(rule(inner) is not None for rule in (deepspeed, distributed))
    return found


def _check_all(folder: Folder) -> None:
    for name in sorted(folder.files):
        if not name.startswith("."):
            archives.check(folder, name)


def _check_grid(names: list[str], pattern: re.Pattern[str]) -> None:
    """Ranks are numbered without a gap in every dimension. Raises Damaged."""
    places = {tuple(int(part or 0) for part in match.groups()) for name in names if (match := pattern.fullmatch(name))}
    whole = 1
    for dimension in range(pattern.groups):
        whole *= max((place[dimension] for place in places), default=0) + 1
    if places and len(places) != whole:
        raise Damaged("missing-rank", f"{len(places)} of {whole} ranks' files")


def _shards(folder: Folder) -> bool:
    return any(_SHARD.fullmatch(name) for name in folder.files)


def _ends(stored: dict[object, object]) -> dict[str, int]:
    """How long each shard must be at least."""
    ends: dict[str, int] = {}
    for info in stored.values():
        name = info.get("relative_path") if isinstance(info, inert.Thing) else None
        offset, length = inert.number(info, "offset"), inert.number(info, "length")
        if not isinstance(name, str) or "/" in name or offset is None or length is None:
            raise Damaged("not-an-archive", f"{METADATA}: an entry without its place")
        ends[name] = max(ends.get(name, 0), offset + length)
    return ends


def _beside(folder: Folder) -> int | None:
    """The step in the `meta.pt` that Lightning writes beside its shards."""
    return inert.number(archives.peek(folder, "meta.pt"), "global_step") if "meta.pt" in folder.files else None


def _tagged_step(folder: Folder, models: list[str]) -> int:
    named = _TAG.fullmatch(folder.name)
    told = inert.number(archives.peek(folder, models[0]), "global_steps") if models and not named else None
    return int(named[1]) if named else _known(told)


def _known(*steps: int | None) -> int:
    return next((step for step in steps if step is not None), UNKNOWN)


def _check_latest(folder: Folder, step: int) -> None:
    parent = folder.parent
    if parent is None or LATEST not in parent.files:
        raise Damaged("unfinished", f"{LATEST} is missing")
    tag = parent.read(LATEST, 4096).decode("utf-8", "replace").strip()
    newest = _TAG.fullmatch(tag)
    if tag != folder.name and newest and int(newest[1]) < step:
        raise Damaged("unfinished", f"{LATEST} says {tag}")
