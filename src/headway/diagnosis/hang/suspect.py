"""Who a stalled attempt waits for: each kind of evidence is asked in turn, the most direct first.

A process that is stopped or held is seen, and so are a file system that does not answer, a link that is down and
connections that are silent: where the network failed, who waits for whom is chance. Only then is it inferred: who
calls another collective, who has not come to one, who stands apart by its stack, who does not answer at all. Where none
singles out a rank, none is named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.diagnosis.hang import collectives, disks, network, stacks
from headway.diagnosis.hang.scene import Collectives, ProcessSeen, RankSeen, Scene
from headway.diagnosis.hang.stacks import Frame
from headway.domain.errors import say


@dataclass(frozen=True, slots=True)
class Suspect:
    """The ranks that are waited for (one, at best), by which evidence, in words."""

    ranks: tuple[int, ...]
    by: str
    detail: str


@dataclass(frozen=True, slots=True)
class Everyone:
    """All scenes of one look, put together by rank."""

    scenes: tuple[Scene, ...]
    ranks: dict[int, RankSeen]
    nodes: dict[int, str]
    frames: dict[int, tuple[Frame, ...]]
    told: dict[int, Collectives]

    def scene_of(self, rank: int) -> Scene | None:
        """What was seen where this rank is."""
        return next((scene for scene in self.scenes if any(one.rank == rank for one in scene.ranks)), None)


def everyone(scenes: Sequence[Scene]) -> Everyone:
    """Put the scenes of all nodes together."""
    ranks = {rank.rank: rank for scene in scenes for rank in scene.ranks}
    frames = {rank: _frames(seen) for rank, seen in ranks.items()}
    return Everyone(
        scenes=tuple(scenes),
        ranks=ranks,
        nodes={rank.rank: scene.node for scene in scenes for rank in scene.ranks},
        frames={rank: found for rank, found in frames.items() if found},
        told={rank: seen.collectives for rank, seen in ranks.items() if seen.collectives},
    )


def find(seen: Everyone) -> Suspect | None:
    """The first evidence that singles out fewer than all."""
    silent = bool(network.broken(seen.scenes))
    for ask in _SEEN if silent else (*_SEEN, *_INFERRED):
        suspect = ask(seen)
        if suspect is not None and 0 < len(suspect.ranks) < max(2, len(seen.ranks)):
            return suspect
    return None


def main_process(rank: RankSeen) -> ProcessSeen | None:
    """The process that trains: the first of its tree."""
    return rank.processes[0] if rank.processes else None


def _stopped(seen: Everyone) -> Suspect | None:
    ranks = _in_state(seen, "Tt")
    return Suspect(ranks, "stopped", say("hang-stopped")) if ranks else None


def _held(seen: Everyone) -> Suspect | None:
    ranks = _in_state(seen, "D")
    if not ranks:
        return None
    process = next(process for process in seen.ranks[ranks[0]].processes if process.state == "D")
    if process.on:
        return Suspect(ranks, "held", say("hang-held-on", on=process.on))
    return Suspect(ranks, "held", say("hang-held-in", wchan=process.wchan) if process.wchan else say("hang-held"))


def _shut_out(seen: Everyone) -> Suspect | None:
    """Ranks that wait for a file system of their node which does not answer."""
    waiting = disks.waiting(seen.scenes)
    mounts = " ".join(sorted(set(waiting.values())))
    return Suspect(tuple(sorted(waiting)), "disk", say("hang-disk-silent", mount=mounts)) if waiting else None


def _unlinked(seen: Everyone) -> Suspect | None:
    ranks, link = network.unlinked(seen.scenes)
    return Suspect(ranks, "link", say("hang-link", link=link.name, carrier=link.state)) if link else None


def _desync(seen: Everyone) -> Suspect | None:
    found = collectives.desync(seen.told)
    if found is None:
        return None
    said = say("hang-desync", seq=found.seq, group=found.group, operation=found.operation, others=found.others)
    return Suspect(found.ranks, "desync", said)


def _behind(seen: Everyone) -> Suspect | None:
    found = collectives.behind(seen.told)
    if found is None:
        return None
    said = say("hang-behind", seq=found.seq, group=found.group, operation=found.operation)
    return Suspect(found.ranks, "sequence", said)


def _apart(seen: Everyone) -> Suspect | None:
    ranks = stacks.apart(seen.frames)
    if not ranks:
        return None
    own = stacks.own_location(seen.frames[ranks[0]])
    return Suspect(ranks, "stack", say("hang-apart-at", own=own) if own else say("hang-apart"))


def _mute(seen: Everyone) -> Suspect | None:
    """A rank that shows nothing where all others do: its interpreter does not run."""
    speaking = set(seen.frames) | set(seen.told)
    mute = tuple(sorted(set(seen.ranks) - speaking))
    return Suspect(mute, "mute", say("hang-mute")) if speaking else None


def _unanswered(seen: Everyone) -> Suspect | None:
    ranks = network.unanswered(seen.scenes)
    return Suspect(ranks, "connections", say("hang-unanswered")) if ranks else None


_Ask = Callable[[Everyone], Suspect | None]
_SEEN: tuple[_Ask, ...] = (_stopped, _held, _shut_out, _unlinked, _unanswered)
_INFERRED: tuple[_Ask, ...] = (_desync, _behind, _apart, _mute)


def _in_state(seen: Everyone, letters: str) -> tuple[int, ...]:
    found = [rank for rank, one in seen.ranks.items() if any(process.state in letters for process in one.processes)]
    return tuple(sorted(found))


def _frames(rank: RankSeen) -> tuple[Frame, ...]:
    main = main_process(rank)
    stack = next((one for one in rank.stacks if main is None or one.pid == main.pid), None)
    return stacks.main_thread(stack) if stack else ()
