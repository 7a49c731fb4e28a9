"""Gathers the claims of a case: from tracebacks, from single lines, from ends that launchers tell of."""

import re
from collections.abc import Sequence

from headway.diagnosis.cause import Cause
from headway.diagnosis.finding import traces
from headway.diagnosis.finding.claim import Claim
from headway.diagnosis.finding.course import is_step
from headway.diagnosis.finding.decide import WARNINGS
from headway.diagnosis.finding.exits import Exit
from headway.diagnosis.finding.traces import Trace
from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.read import Reading
from headway.diagnosis.reading.sieve import sounds_like_trouble
from headway.diagnosis.signs.places import cause_of_place
from headway.diagnosis.signs.sign import LIKELY, SURE, WEAK, Kind, Match
from headway.diagnosis.signs.table import Table

GENERIC = 50
"""The weight of an exception that says nothing particular."""
_NO_WORDS = re.compile(r"0x[0-9a-fA-F]+|[^A-Za-z\u4e00-\u9fff]+")
_RANK = re.compile(r"RankID:(\d{1,6})\b|for rank (\d{1,6})\b|\[[Rr]ank[ :]{0,2}(\d{1,6})\]|on rank (\d{1,6})\b")
_DEVICE = re.compile(
    r"\((?:NPU|GPU|MLU|DCU) (\d{1,3});|\b(?:GPU|NPU|MLU|XPU|DCU) (\d{1,3}) has a total|"
    r"\bDevice:(\d{1,3}),|[Dd]evice ?[Ii]d[:= ]{1,2}(\d{1,3})\b"
)
_ACTOR = re.compile(r"\(pid=(\d{1,8})(?:, ip=([\w.:-]{1,64}))?")
_PROCESS = re.compile(r"(?:[Kk]illed|[Kk]ill|OOM-killed) process (\d{2,8})\b|\b[Pp][Ii][Dd](?:[=:]|: | )'?(\d{2,8})\b")
_ROLE = re.compile(r"ray::(\w{1,60})[.(]")
_ANY_RANK = re.compile(r"(?:\b[Rr]ank[ :=_#]{0,2}\[?|进程 ?(?=\d{1,3}(?!\d)))(\d{1,6})(?!\d)")
_NODE = re.compile(
    r"(?:\b[Nn]ode:? |\b[Nn]ode failure on |\bnode name: |\bON |\bNodeList=|"
    r"\bhost:? |\bnode=|\bhostname[=:] ?|[Ll]isten on ip\[|节点 ?)"
    r"([A-Za-z][\w.-]{0,60}\d[\w.-]{0,20}|[a-z]{2,12}-[a-z]|"
    r"\d{1,3}(?:\.\d{1,3}){3})\b"
)
_WITHIN = re.compile(r"torch[\\/]distributed[\\/](?!run|launch|elastic)|distributed_c10d")
_LAUNCHING = re.compile(
    r"torch[\\/]distributed[\\/](?:run|launch|launcher|elastic)|bin[\\/]torchrun$|deepspeed[\\/]launcher|accelerate[\\/]commands"
)
_WAITS = re.compile(r"\bbarrier\(|main_process_first|wait_for_everyone|\ball_?(?:reduce|gather)|zero_first")
_TRIES = re.compile(r"(?i),? ?(?:retrying|retry|attempt)\D{0,12}(?P<n>\d{1,6}) ?(?:/|of) ?(?P<of>\d{1,6})\)?")
_CARRIED = re.compile(r"RayTaskError\((\w{1,60})\)|^SystemExit: [1-9]")
CARRIED = 4
"""How much less an exception weighs that is only passed on."""
_LAUNCHERS = (
    "ChildFailedError",
    "CalledProcessError",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SignalException",
    "RayTaskError",
    "RayActorError",
    "ActorDiedError",
    "EngineDeadError",
    "SystemExit",
    "WorkerCrashedError",
    "GeneratorExit",
    "StopIteration",
)
_BENIGN = re.compile(
    r"(?i)exception ignored in|retrying|will retry|\bretry \d|attempt \d{1,3} ?(?:/|"
    r"of) ?\d|ignoring|ignored|falling back|fallback|not fatal|non-fatal|"
    r"no errors? |\b0 errors|error count: 0|"
    r"errors?[:=] ?0\b|suppress|deprecat|for debugging consider|torch_use_cuda_dsa|"
    r"compile with|might be caused by|this may (?:be|indicate)|if you (?:see|encounter)|"
    r"recovered|reconnected|succeeded|resolved|skipping (?:bad|corrupt|"
    r"sample|file|step|batch)|skipped|using defaults?|corrected|UserWarning|FutureWarning|"
    r"DeprecationWarning|ResourceWarning|"
    r"wandb|tensorboard not found|setting .{0,40} timeout|timeout[ _]?(?:is |"
    r"=|: ?|set to )\d|handler installed|enabled|重试|已恢复|忽略|跳过"
)
_QUIET_LEVELS = frozenset({"INFO", "DEBUG", "TRACE", "NOTICE", "I", "D", "SUCCESS", "信息"})


def gather(reading: Reading, exits: Sequence[Exit], table: Table) -> list[Claim]:
    """Every claim of the case, with copies of the same one counted, in the order of files and lines."""
    claims: list[Claim] = []
    in_traces: set[int] = set()
    for stream in traces.streams(reading.entries):
        for group in traces.find(stream):
            claims += _from_group(group, reading, table)
            in_traces.update(
                id(entry)
                for trace in group
                for entry in (trace.head, trace.exception, *trace.body, *trace.tail)
                if entry
            )
    for entry in reading.entries:
        if id(entry) not in in_traces:
            claims += _from_line(entry, reading, table)
    _complete(claims)
    claims += [claim for exit_ in exits if (claim := _from_exit(exit_))]
    return _without_copies(sorted(claims, key=lambda claim: claim.place))


def _from_group(group: Sequence[Trace], reading: Reading, table: Table) -> list[Claim]:
    """One claim for an exception and those it led to: the strongest of what they say."""
    found = [claim for trace in group if (claim := _from_trace(trace, reading, table))]
    if not found:
        return []
    faults = [claim for claim in found if claim.kind is Kind.FAULT]
    best = max(faults or found, key=lambda claim: claim.weight)
    if best.location is None or group[-1].link == "original":
        ordered = [trace for trace in reversed(group) if trace.link == "original"] + list(group)
        best.location = next((frame for trace in ordered if (frame := trace.own_frame)), best.location)
    process = next((trace.process for trace in group if trace.process is not None), None)
    if best.rank is None and process is not None:
        best.rank = reading.world.rank_of_local_rank(process)
    _about(best, [trace.exception for trace in group if trace.exception], reading)
    return [best]


def _from_trace(trace: Trace, reading: Reading, table: Table) -> Claim | None:
    entry = trace.exception
    if entry is None:
        return _unsaid(trace, reading)
    said = [entry, *trace.tail]
    matches = [(line, match) for line in said for match in table.matches(line.text, line.lower) if not _is_advice(line)]
    faults = [(line, match) for line, match in matches if match.sign.kind is Kind.FAULT]
    follows = [(line, match) for line, match in matches if match.sign.kind is Kind.FOLLOWER]
    line, match = max(faults or follows, key=lambda each: each[1].sign.weight, default=(entry, None))
    if not trace.frames and _BENIGN.search(entry.text):
        return None
    name = entry.text.partition(":")[0]
    if match is None and any(word in entry.text for word in _LAUNCHERS) and not _tells_what_it_carries(entry):
        return None
    claim = _claim(line, match) if match else Claim(Cause.USER_CODE_EXC, GENERIC, Kind.FAULT, entry)
    if match is None and name.endswith("Warning"):
        return None
    claim.weight -= CARRIED if match is None and _tells_what_it_carries(entry) else 0
    claim.in_trace, claim.location, claim.frames = True, trace.own_frame, tuple(trace.frames)
    claim.words = _NO_WORDS.sub(" ", entry.text)[:300].strip()
    _about(claim, said, reading)
    claim.lines = list({id(each): each for each in (trace.head, entry, line)}.values())
    return claim


def _tells_what_it_carries(entry: Entry) -> bool:
    """Whether an exception that a launcher passes on names the one that was raised, and it is no launcher's."""
    carried = _CARRIED.search(entry.text)
    return carried is not None and carried[1] not in _LAUNCHERS


def _unsaid(trace: Trace, reading: Reading) -> Claim | None:
    """A traceback whose exception was lost: one that broke while ranks met did not find the others, one within
    communication follows, any other is the program's.
    """
    if trace.is_reversed or (not trace.frames and not trace.head.text.startswith("Traceback")):
        return None
    if trace.frames and _LAUNCHING.search(trace.frames[-1][0]):
        return None
    cause, kind = cause_of_place([line.text for line in trace.body]) or Cause.USER_CODE_EXC, Kind.FAULT
    is_within = any(_WITHIN.search(path) for path, _ in trace.frames[-3:])
    waits = is_within or any(_WAITS.search(line.text) for line in trace.body[-4:])
    if waits and cause is not Cause.COMM_BOOTSTRAP:
        cause, kind = Cause.COMM_TIMEOUT, Kind.FOLLOWER
    claim = Claim(cause, GENERIC - 4, kind, trace.head, lines=[trace.head], location=trace.own_frame, in_trace=True)
    claim.frames = tuple(trace.frames)
    _about(claim, [trace.head, *trace.body], reading)
    return claim


def _complete(claims: Sequence[Claim]) -> None:
    """A traceback whose exception was lost says what one says that goes on from it, where all that do say the same."""
    whole = [claim for claim in claims if claim.in_trace and claim.words]
    for claim in claims:
        if not claim.in_trace or claim.words or not claim.frames:
            continue
        on = [w for w in whole if w.entry.file == claim.entry.file and w.frames[: len(claim.frames)] == claim.frames]
        if on and len({other.words for other in on}) == 1:
            known = max(on, key=lambda other: len(other.frames))
            claim.cause, claim.weight, claim.kind, claim.words = known.cause, known.weight, known.kind, known.words
            claim.location = known.location


def _is_advice(entry: Entry) -> bool:
    return bool(_BENIGN.search(entry.text)) and "Error" not in entry.text[:60]


def _from_line(entry: Entry, reading: Reading, table: Table) -> list[Claim]:
    if is_step(entry.text) and not sounds_like_trouble(entry.lower):
        return []
    tries = _TRIES.search(entry.text)
    is_spent = tries is not None and 1 < int(tries["of"]) <= int(tries["n"])
    text = _TRIES.sub("", entry.text) if is_spent else entry.text
    matches = table.matches(text, text.lower() if is_spent else entry.lower)
    if not matches:
        return []
    is_quiet = not is_spent and (entry.level in _QUIET_LEVELS or entry.text.startswith("NCCL INFO"))
    is_benign = bool(_BENIGN.search(text))
    kept = [
        match
        for match in matches
        if match.sign.kind is not Kind.FAULT
        or match.sign.quiet
        or not (is_quiet or (is_benign and match.sign.weight < SURE))
    ]
    best: dict[Kind, Match] = {}
    for match in kept:
        if match.sign.kind not in best or match.sign.weight > best[match.sign.kind].sign.weight:
            best[match.sign.kind] = match
    if Kind.FAULT in best:
        best.pop(Kind.FOLLOWER, None)
    claims = [_claim(entry, match) for match in best.values()]
    for claim in claims:
        claim.words = _NO_WORDS.sub(" ", entry.text)[:300].strip()
        claim.weight -= 20 if entry.level in WARNINGS and claim.weight < LIKELY + 20 else 0
        _about(claim, [entry], reading)
    return claims


def _claim(entry: Entry, match: Match) -> Claim:
    sign = match.sign
    claim = Claim(sign.cause, sign.weight, sign.kind, entry, match.rank, match.node, match.device)
    claim.owner, claim.retry, claim.lines = sign.owner, sign.retry, [entry]
    return claim


def _about(claim: Claim, said: Sequence[Entry], reading: Reading) -> None:
    """Whom a claim is about: those its words name, else the one who said it."""
    entry, world = claim.entry, reading.world
    claim.at = claim.at if claim.at is not None else next((line.at for line in said if line.at is not None), None)
    claim.role = claim.role or entry.role
    text = "\n".join(line.text for line in said)
    if claim.rank is None:
        claim.rank = entry.rank
    if claim.rank is None and (named := _RANK.search(text)):
        claim.rank = int(next(filter(None, named.groups())))
    if claim.rank is None and claim.kind is Kind.FAULT:
        mentioned = set(_ANY_RANK.findall(entry.text))
        claim.rank = int(mentioned.pop()) if len(mentioned) == 1 else None
    if actor := _ACTOR.search(text):
        claim.rank = claim.rank if claim.rank is not None else world.rank_of_pid.get(int(actor[1]))
        claim.node = claim.node or actor[2]
    if claim.rank is None and (process := _PROCESS.search(entry.text)):
        claim.rank = world.rank_of_pid.get(int(next(filter(None, process.groups()))))
    if role := _ROLE.search(text):
        claim.role = role[1].strip("_")
    if claim.rank is None and (device := _DEVICE.search(text)):
        number = int(next(filter(None, device.groups())))
        claim.device = str(number)
        known = world.rank_of_device.get(number)
        claim.rank = known if known is not None else world.rank_of_local_rank(number) if world.is_distributed else None
    if claim.rank is None and entry.device is not None and len(world.nodes) <= 1:
        claim.rank = world.rank_of_card(entry.device)
    if claim.node is None:
        named_node = _NODE.search(entry.text)
        is_the_batch_host = claim.cause is Cause.NODE_DOWN and "CANCELLED AT" in entry.text
        claim.node = entry.node or (named_node[1] if named_node and not is_the_batch_host else None)


def _from_exit(exit_: Exit) -> Claim | None:
    """A signal nobody explained. A kill without a word is weak: launchers kill too, after the fact."""
    by_signal = {
        11: (Cause.NATIVE_CRASH, LIKELY),
        4: (Cause.NATIVE_CRASH, LIKELY),
        8: (Cause.NATIVE_CRASH, LIKELY),
        7: (Cause.SHM_FULL, LIKELY),
        9: (Cause.HOST_OOM, WEAK),
    }
    if exit_.signal not in by_signal:
        return None
    cause, weight = by_signal[exit_.signal]
    claim = Claim(
        cause,
        weight,
        Kind.FAULT,
        exit_.entry,
        exit_.rank,
        exit_.node,
        at=exit_.at if exit_.at is not None else exit_.entry.at,
    )
    claim.lines, claim.words = [exit_.entry], f"signal {exit_.signal}"
    return claim


def _without_copies(claims: Sequence[Claim]) -> list[Claim]:
    """Claims in order; what nobody in particular says again in the same words only counts."""
    kept: list[Claim] = []
    seen: dict[tuple[object, ...], Claim] = {}
    for claim in claims:
        key = (claim.entry.file, claim.rank, claim.node, claim.kind, claim.cause, claim.words)
        first = seen.setdefault(key, claim)
        if first is claim:
            kept.append(claim)
        else:
            first.copies += 1
            first.location = first.location or claim.location
    return kept
