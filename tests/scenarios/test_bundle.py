"""The evidence of a job that hung, as one file: complete, true to its manifest, without the secrets planted in it."""

import hashlib
import io
import json
import zipfile

from headway.server.operations.evidence.bundle import LOG_BYTES, LOG_HEAD, bundle
from tests.scenarios.test_stalls import begins, hangs
from tests.scenarios.work import Work
from tests.scenarios.world import World

SECRET = "q7Zt9-planted-Xw2"
LINE = b"step 1 loss 2.0\n"


def _opened(world: World, train: Work) -> zipfile.ZipFile:
    with bundle(world.platform, train.job, train.attempts[0]) as file:
        return zipfile.ZipFile(io.BytesIO(file.read()))


def _stalled(world: World) -> Work:
    train = begins(world, env={"WANDB_API_KEY": SECRET, "SEED": "7"})
    train.agents[0].prints(0, f"login with {SECRET}\npassword={SECRET}2\n")
    train.agents[1].prints(1, "hello from rank 1\n")
    hangs(world, train, 80)
    for agent in train.agents:
        agent.obeys("stalled")
    world.settle()
    return train


def test_the_bundle_holds_the_evidence_of_a_hang(world: World) -> None:
    train = _stalled(world)
    archive = _opened(world, train)
    names = set(archive.namelist())
    assert {"README.txt", "manifest.json", "verdict.json", "verdict.txt", "facts.jsonl", "exits.json"} <= names
    assert {"job.json", "environment.json", "logs/rank-0.log", "logs/rank-1.log"} <= names
    assert "readings/processes_cpu_percent.csv" in names
    stacks = [name for name in names if name.startswith("stacks/")]
    assert len(stacks) == 2
    assert any(b"read_record" in archive.read(name) for name in stacks)
    assert json.loads(archive.read("verdict.json"))["cause"] == "DATA_STALL"
    kinds = [json.loads(line)["kind"] for line in archive.read("facts.jsonl").splitlines()]
    assert {"stalled", "stall-explained", "attempt-ended", "verdict-reached"} <= set(kinds)
    curve = archive.read("readings/processes_cpu_percent.csv").decode().splitlines()
    assert curve[0] == "at,node,rank,device,minimum,mean,maximum"
    assert len(curve) > 12
    assert json.loads(archive.read("environment.json"))[train.attempts[0].placements[0].node]["kernel"] == "6.1"


def test_every_file_is_as_the_manifest_says(world: World) -> None:
    archive = _opened(world, _stalled(world))
    manifest = json.loads(archive.read("manifest.json"))
    told = {entry["name"]: entry["sha256"] for entry in manifest["files"]}
    found = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert told == {name: digest for name, digest in found.items() if name != "manifest.json"}


def test_planted_secrets_are_in_no_file_of_it(world: World) -> None:
    archive = _opened(world, _stalled(world))
    assert [name for name in archive.namelist() if SECRET.encode() in archive.read(name)] == []
    assert archive.read("logs/rank-0.log") == b"login with ***\npassword=***\n"
    assert json.loads(archive.read("job.json"))["job"]["spec"]["env"] == {"WANDB_API_KEY": "***", "SEED": "7"}
    assert json.loads(archive.read("manifest.json"))["scrubbed"] >= 3


def test_of_a_long_log_the_beginning_and_the_end_are_kept(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    train.agents[0].prints(0, "first words\n")
    for _ in range(5):
        train.agents[0].prints(0, (LINE * (1 << 16)).decode())
    train.agents[0].prints(0, "last words\n")
    log = _opened(world, train).read("logs/rank-0.log")
    assert log.startswith(b"first words\n")
    assert log.endswith(b"last words\n")
    assert LOG_BYTES <= len(log) <= LOG_BYTES + LOG_HEAD
    assert b"bytes are left out here" in log
