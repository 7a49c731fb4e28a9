"""The evidence bundle of one attempt: what was seen of it and said about it, in one file that may be handed on.

Logs (their beginning and end, within bounds), the memory curve and every other reading, stacks and scenes, exits,
facts, verdict and environment. Secrets are scrubbed from all of it. Reads only what is recorded already.
"""

import csv
import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

from pydantic import TypeAdapter

from headway import __version__
from headway.diagnosis.describe import describe
from headway.domain.attempt import Attempt
from headway.domain.events import field_names
from headway.domain.job import Job
from headway.server.operations.evidence.scrubbing import Scrubber, is_secret
from headway.server.platform import Platform
from headway.store import agents, facts, verdicts

LOGS_BYTES = 32 << 20
LOG_BYTES = 4 << 20
LOG_HEAD = 64 << 10
POINTS = 2000
IN_MEMORY = 8 << 20
_PLAIN: TypeAdapter[Any] = TypeAdapter(Any)
_README = """Evidence of {attempt}, made by Headway {version}. Secrets were scrubbed: *** stands for each.
verdict.txt, verdict.json   what stopped it, where first, whose move it is
facts.jsonl, exits.json     what happened to it, and how each rank ended
job.json, environment.json  what was asked for, and what its nodes are
logs/                       each rank's output: its beginning and its end
readings/                   each measured quantity over time, as CSV; memory_used_bytes.csv is the memory curve
stacks/, scenes/            what its agents saw of it while it hung, or as it broke
"""


def bundle(platform: Platform, job: Job, attempt: Attempt) -> IO[bytes]:
    """A zip file to be read from its beginning; closing it removes it."""
    scrubber = Scrubber(value for name, value in job.spec.env.items() if is_secret(name, value))
    file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (the caller closes it)
    listed = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for name, content in _contents(platform, job, attempt, scrubber):
            archive.writestr(name, content)
            listed.append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        about = {
            "attempt": attempt.id,
            "at": platform.clock.now(),
            "version": __version__,
            "scrubbed": scrubber.removed,
        }
        archive.writestr("manifest.json", _json({**about, "files": listed}))
    file.seek(0)
    return file


def _contents(platform: Platform, job: Job, attempt: Attempt, scrubber: Scrubber) -> Iterator[tuple[str, bytes]]:
    """Every file of the bundle, scrubbed."""
    yield "README.txt", _README.format(attempt=attempt.id, version=__version__).encode()
    yield from _records(platform, job, attempt, scrubber)
    yield from _scenes(platform, attempt, scrubber)
    ranks = platform.logs.ranks(attempt.id)
    for rank in ranks:
        most = min(LOG_BYTES, LOGS_BYTES // len(ranks))
        yield f"logs/rank-{rank}.log", scrubber.data(_log(platform, attempt, rank, most))
    for name in platform.readings.names(attempt.id):
        yield f"readings/{name.replace('/', '_')}.csv", _curve(platform, attempt, name)


def _records(platform: Platform, job: Job, attempt: Attempt, scrubber: Scrubber) -> Iterator[tuple[str, bytes]]:
    with platform.database.read() as c:
        verdict = verdicts.get(c, attempt.id)
        told = [fact for fact in facts.all(c, job=job.id) if getattr(fact, "attempt", attempt.id) == attempt.id]
        exits = agents.exits(c, attempt.id)
        parts = agents.of_attempt(c, attempt.id)
    if verdict is not None:
        said = "".join(f"{describe(verdict, language)}\n" for language in ("zh", "en"))
        yield "verdict.txt", scrubber.text(said).encode()
        yield "verdict.json", _json(scrubber.value(_plain(verdict)))
    lines = [{"kind": fact.kind, "at": fact.at, "by": fact.by, **_fields(fact)} for fact in told]
    yield "facts.jsonl", b"".join(_json(scrubber.value(_plain(line))) for line in lines)
    yield "exits.json", _json(scrubber.value([_plain(exit) for exit in exits]))
    yield "job.json", _json(scrubber.value({"job": _plain(job), "attempt": _plain(attempt)}))
    yield "environment.json", _json(scrubber.value({part.node: _plain(part.environment) for part in parts}))


def _scenes(platform: Platform, attempt: Attempt, scrubber: Scrubber) -> Iterator[tuple[str, bytes]]:
    for look, node, scene in platform.scenes.of_attempt(attempt.id):
        ranks = scene.get("ranks") if isinstance(scene.get("ranks"), list) else []
        for rank in ranks or ():
            for stack in rank.get("stacks") or () if isinstance(rank, dict) else ():
                name = f"stacks/{look}/rank-{rank.get('rank')}-{stack.get('pid')}.txt"
                yield name.replace("..", "_"), scrubber.text(str(stack.get("text"))).encode()
        yield f"scenes/{look}/{node}.json", _json(scrubber.value(scene))


def _log(platform: Platform, attempt: Attempt, rank: int, most: int) -> bytes:
    """The whole of a rank's log, or its beginning and its end with a line between that says what is left out."""
    size = platform.logs.size(attempt.id, rank)
    if size <= most:
        return platform.logs.read(attempt.id, rank, 0, size)
    tail = most - LOG_HEAD
    head = platform.logs.read(attempt.id, rank, 0, LOG_HEAD)
    end = platform.logs.read(attempt.id, rank, size - tail, tail)
    return head + b"\n[headway] %d bytes are left out here\n" % (size - most) + end


def _curve(platform: Platform, attempt: Attempt, name: str) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("at", "node", "rank", "device", "minimum", "mean", "maximum"))
    for series in platform.readings.series(attempt.id, name, points=POINTS):
        place = (series.node, series.rank, series.device)
        rows.writerows((p.at.isoformat(), *place, p.minimum, p.mean, p.maximum) for p in series.points)
    return text.getvalue().encode()


def _fields(fact: Any) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in field_names(fact.kind)}


def _plain(value: Any) -> Any:
    return _PLAIN.dump_python(asdict(value) if hasattr(value, "__dataclass_fields__") else value, mode="json")


def _json(value: Any) -> bytes:
    return json.dumps(_plain(value), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
