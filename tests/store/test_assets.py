"""Templates, registered versions, services and their traffic."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.service import Replica, ReplicaState, Service, Share, Split
from headway.domain.version import DatasetVersion, Lineage, ModelVersion
from headway.store import assets, jobs, services, templates
from headway.store.templates import TemplateRow
from tests.store.rows import ATTEMPT, JOB, NOW, a_job, later, with_job, with_projects

DATASET = DatasetVersion("stdlib", 1, "/data/标准库", "sha256:1", 2**40, 700, NOW, "ann", "note")
LINEAGE = Lineage(
    JOB, ATTEMPT, 60, "/ckpt/60", "sha256:2", "tiny-gpt@1", {"lr": "3e-4"}, None, None, "abc", {"torch": "2.13"}
)
MODEL = ModelVersion("chat", 1, "vision", "/models/chat/1", "sha256:3", 2**40, NOW, "ann", LINEAGE)
SERVICE = Service("chat", "vision", NOW, "ann")
SPLIT = Split("vision/chat", 1, (Share("chat@1", 90), Share("chat@2", 10)), NOW, "ann", "try it")


def test_a_changed_template_is_a_new_version_and_an_unchanged_one_is_not(c: Connection) -> None:
    one, two = {"command": ["a"], "blanks": {"步数": 60}}, {"command": ["b"]}
    numbers = [
        templates.add(c, "tiny", content, digest, NOW, "ann")
        for content, digest in ((one, "1"), (one, "1"), (two, "2"), (one, "1"))
    ]
    assert numbers == [1, 1, 2, 3]
    assert templates.get(c, "tiny") == TemplateRow("tiny", 3, one, "1")
    assert templates.get(c, "tiny", 2) == TemplateRow("tiny", 2, two, "2")
    assert templates.get(c, "tiny", 4) is None
    templates.add(c, "big", two, "2", NOW, "ann")
    assert templates.names(c) == ["big", "tiny"]


def test_data_set_versions_come_back_as_they_were(c: Connection) -> None:
    second = replace(DATASET, number=2, digest="sha256:9")
    assert assets.next_dataset_number(c, "stdlib") == 1
    assets.add_dataset(c, DATASET)
    assets.add_dataset(c, second)
    assert assets.next_dataset_number(c, "stdlib") == 3
    assert assets.dataset(c, "stdlib") == second
    assert assets.dataset(c, "stdlib", 1) == DATASET
    assert assets.dataset(c, "other") is None
    assert assets.datasets(c) == [DATASET, second]
    with pytest.raises(PlatformError, match="stdlib@1 exists already"):
        assets.add_dataset(c, DATASET)


def test_model_versions_come_back_with_their_lineage(c: Connection) -> None:
    with_projects(c)
    second, other = replace(MODEL, number=2), replace(MODEL, name="asr", project="speech")
    assert assets.next_model_number(c, "chat") == 1
    for version in (MODEL, second, other):
        assets.add_model(c, version)
    assert assets.next_model_number(c, "chat") == 3
    assert assets.model(c, "chat") == second
    assert assets.model(c, "chat", 1) == MODEL
    assert assets.model(c, "chat", 3) is None
    assert assets.models(c) == [other, MODEL, second]
    assert assets.models(c, name="chat") == [MODEL, second]
    assert assets.models(c, project="speech") == [other]
    with pytest.raises(PlatformError, match="chat@1 exists already"):
        assets.add_model(c, MODEL)


def test_a_service_is_read_with_its_current_split(c: Connection) -> None:
    with_projects(c)
    services.add(c, SERVICE)
    services.add(c, replace(SERVICE, project="speech"))
    assert services.get(c, "chat", "vision") == SERVICE
    second = Split("vision/chat", 2, (Share("chat@1", 100),), later(1), "ann", "back", rollback_of=1)
    services.add_split(c, SPLIT)
    services.add_split(c, second)
    assert services.splits(c, "chat", "vision") == [SPLIT, second]
    assert services.current_split(c, "chat", "vision") == second
    assert services.get(c, "chat", "vision") == replace(SERVICE, split=second)
    assert services.all(c) == [replace(SERVICE, project="speech"), replace(SERVICE, split=second)]
    assert services.get(c, "chat", "nowhere") is None


def test_two_people_cannot_set_the_same_split(c: Connection) -> None:
    services.add_split(c, SPLIT)
    with pytest.raises(PlatformError, match="conflict"):
        services.add_split(c, replace(SPLIT, by="bob"))


def test_a_services_name_is_taken_until_it_is_stopped(c: Connection) -> None:
    with_projects(c)
    services.add(c, SERVICE)
    with pytest.raises(PlatformError, match="already-exists"):
        services.add(c, SERVICE)
    assert services.stop(c, "chat", "vision", later(1))
    assert not services.stop(c, "chat", "vision", later(2))
    assert services.get(c, "chat", "vision") == replace(SERVICE, stopped_at=later(1))
    services.add(c, replace(SERVICE, created_by="bob"))
    assert services.get(c, "chat", "vision") == replace(SERVICE, created_by="bob")


def test_a_replica_is_known_by_its_job(c: Connection) -> None:
    with_job(c)
    jobs.insert(c, a_job("j-bbbbbbbb"))
    starting = Replica("vision/chat", "chat@1", JOB, ReplicaState.STARTING)
    ready = replace(starting, state=ReplicaState.READY, endpoint="127.0.0.1:40123")
    other = Replica("speech/asr", "asr@1", JobId("j-bbbbbbbb"), ReplicaState.GONE)
    for replica in (starting, other, ready):
        services.put_replica(c, replica)
    assert services.replicas(c) == [other, ready]
    assert services.replicas(c, "vision/chat") == [ready]
