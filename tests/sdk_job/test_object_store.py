"""Copies in a real object store (SeaweedFS, by S3): back after a loss, never by half whenever the copier dies."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import CheckpointError, checkpoint_folders, verify
from headway.sdk.job.disk import Disk
from headway.sdk.job.staged import published, stage_back
from headway.sdk.job.store import open_store
from tests.sdk_job.conftest import MakeRun, told
from tests.sdk_job.test_checkpoints import Counter

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("no_torch")]
KEYS = {"accessKey": "AKID", "secretKey": "SECRET1234"}
ALL = ["Admin", "Read", "Write", "List", "Tagging"]
URL = "s3://runs/team"
KILLS = 30 if os.environ.get("HEADWAY_SEEDS") == "all" else 5


def free_port() -> int:
    """One that is free 10,000 above as well, where each server of it opens another."""
    while True:
        with socket.socket() as low, socket.socket() as high:
            low.bind(("127.0.0.1", 0))
            port: int = low.getsockname()[1]
            try:
                high.bind(("127.0.0.1", port + 10000))
            except (OSError, OverflowError):
                continue
            return port


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    weed = Path(sys.executable).with_name("weed")
    home = tmp_path_factory.mktemp("weed")
    identity = {"name": "ci", "credentials": [KEYS], "actions": ALL}
    (home / "ids.json").write_text(json.dumps({"identities": [identity]}))
    ports = {name: free_port() for name in ("master.port", "volume.port", "filer.port", "s3.port")}
    words = ["server", f"-dir={home}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]
    words += [f"-{name}={port}" for name, port in ports.items()]
    words += [
        f"-s3.config={home}/ids.json",
        "-volume.max=20",
        "-master.volumeSizeLimitMB=64",
        "-master.telemetry=false",
    ]
    words += ["-volume.preStopSeconds=0", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen([str(weed), *words], stdout=log, stderr=log, cwd=home)
    try:
        yield await_ready(f"http://127.0.0.1:{ports['s3.port']}", server)
    finally:
        server.kill()
        server.wait()


def await_ready(url: str, server: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return url
        except urllib.error.HTTPError:
            return url
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the object store has not come up")


@pytest.fixture(autouse=True)
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["accessKey"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["secretKey"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import boto3

    client = boto3.client("s3")
    deadline = time.monotonic() + 30
    while "runs" not in {each["Name"] for each in client.list_buckets()["Buckets"]}:
        try:
            client.create_bucket(Bucket="runs")
        except client.exceptions.ClientError:
            assert time.monotonic() < deadline
            time.sleep(0.2)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def test_a_checkpoint_goes_to_the_object_store_and_comes_back(
    make_run: MakeRun, directory: Path, rank_dir: Path
) -> None:
    counter = Counter(7)
    checkpoints = make_run(HEADWAY_JOB="j-back").checkpoints(model=counter, store=URL)
    checkpoints.save(10, files=lambda folder: (folder / "tokenizer.json").write_bytes(b"x" * (9 << 20)))
    checkpoints.wait()
    copied = next(event for event in told(rank_dir) if event["kind"] == "checkpoint-copied")
    assert (copied["storage"], copied["to"].startswith(f"{URL}/j-back/step-00000010-")) == ("s3", True)
    shutil.rmtree(directory)
    counter.value = 0
    assert make_run(HEADWAY_JOB="j-back").checkpoints(model=counter, store=URL).restore() == 10
    assert counter.value == 7
    assert (directory / "step-00000010/tokenizer.json").stat().st_size == 9 << 20


def test_a_bucket_that_is_not_there_is_heard_by_name(make_run: MakeRun, directory: Path) -> None:
    checkpoints = make_run(HEADWAY_JOB="j-none").checkpoints(model=Counter(1), store="s3://no-such-bucket/x")
    checkpoints.save(10)
    with pytest.raises(CheckpointError, match="no-such-bucket"):
        checkpoints.wait()
    with pytest.raises(CheckpointError, match="nothing is restored"):
        make_run(HEADWAY_JOB="j-none").checkpoints(model=Counter(), store="s3://no-such-bucket/x").restore()
    assert verify(directory / "step-00000010").ok


def test_a_copier_killed_at_any_moment_publishes_no_half_copy(
    make_run: MakeRun, directory: Path, tmp_path: Path
) -> None:
    """Each save is 8 files of 1 MB; the copier is killed somewhere within the time a whole copy takes."""
    chance = random.Random(6)
    whole = None
    for number in range(1, KILLS + 1):
        checkpoints = make_run(HEADWAY_JOB="j-kill").checkpoints(model=Counter(number), store=URL)
        checkpoints.save(number, files=eight_files)
        copies = checkpoints._copies
        assert copies is not None
        assert copies._helper is not None
        began = time.monotonic()
        if whole is None:
            checkpoints.wait()
            whole = time.monotonic() - began
            continue
        time.sleep(chance.uniform(0, whole))
        os.kill(copies._helper.pid, signal.SIGKILL)
        checkpoints._wait()
    store = open_store(URL)
    copies_there = published(store, "j-kill")
    assert 1 in {copy.step for copy in copies_there}
    for copy in copies_there:
        assert verify(stage_back(copy, tmp_path / f".tmp-{copy.step}", store, Disk()).path).ok
    again = make_run(HEADWAY_JOB="j-kill").checkpoints(model=Counter(), store=URL)
    assert again.restore() == KILLS
    again.wait()
    assert published(store, "j-kill")[0].step == KILLS
    assert len(checkpoint_folders(directory)) == KILLS


def eight_files(folder: Path) -> None:
    for part in range(8):
        (folder / f"part-{part}.bin").write_bytes(os.urandom(1 << 20))
