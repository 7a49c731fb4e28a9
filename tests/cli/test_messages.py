"""The texts of the command line: whole, in both languages, and none too many."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from string import Formatter

import headway.cli
from headway.cli.language import language, texts
from headway.cli.main import COMMANDS, make_cli
from headway.diagnosis.cases.incidents import WIDEST_FIRST
from headway.diagnosis.cases.retest import Outcome as RetestOutcome
from headway.diagnosis.cases.suspicion import Level
from headway.domain.attempt import Outcome
from headway.domain.checkpoint import CheckpointState
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.resources import NodeState
from headway.domain.service import ReplicaState
from headway.metering.phases import Phases
from headway.registry.cadence import Edge
from headway.registry.storages import StorageKind
from headway.scheduler.plan import BehindOthers, CapacityShort, NodesUnfit, QuotaReached
from headway.scheduler.staying import Obstacle
from headway.server.operations.jobs.cadence import MODES
from headway.server.operations.jobs.losses import IN_PLACE, Passing

SOURCE = Path(headway.cli.__file__).parent
PLAIN = ("state", "change", "reason", "basis", "column", "help", "option", "move", "retry")
CLOSED = (
    *PLAIN,
    "suspicion",
    "outcome",
    "shared",
    "counts",
    "passing",
    "way",
    "recovery",
    "carry",
    "carried",
    "kill",
    "drilled",
    "right",
    "cadence-mode",
    "cadence-edge",
    "storage",
)
PHASES = [field.name for field in fields(Phases)]


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name} if "${fpath" not in text else set()


def said() -> Iterator[str]:
    """Every key written out in a call of `say`."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say"
            if called and isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)


def test_both_languages_have_the_same_keys_with_the_same_blanks() -> None:
    zh, en = texts("zh"), texts("en")
    assert list(zh) == list(en)
    assert {key for key in en if blanks(zh[key]) != blanks(en[key])} == set()


def test_every_text_that_is_said_is_there_and_every_text_that_is_there_is_said() -> None:
    keys, there = set(said()), set(texts("en"))
    assert keys - there == set()
    assert {key for key in there - keys if key.split(".")[0] not in CLOSED} == set()


def test_chinese_texts_are_chinese() -> None:
    same = {key for key, text in texts("zh").items() if not re.search(r"[一-鿿]", text)}
    without_words = {"usage.title", "usage.total", "stop.ended", "service.shifted", "follow.state", "error.bad-value"}
    assert same <= without_words | {"column.id"}


def test_every_state_and_reason_has_its_words() -> None:
    states = [
        s.value for kind in (JobState, AttemptState, Outcome, CheckpointState, NodeState, ReplicaState) for s in kind
    ]
    reasons = [reason.code for reason in (QuotaReached, CapacityShort, BehindOthers, NodesUnfit)]
    wanted = {f"suspicion.{level}" for level in Level} | {f"outcome.{o}" for o in RetestOutcome}
    wanted |= {f"way.{each}" for each in (IN_PLACE, *Obstacle)}
    wanted |= {f"passing.{each}" for each in Passing} | {f"recovery.{phase}" for phase in PHASES}
    wanted |= {f"cadence-mode.{mode}" for mode in MODES} | {f"cadence-edge.{edge}" for edge in Edge}
    wanted |= {f"storage.{kind}" for kind in StorageKind}
    wanted |= {f"shared.{kind}" for kind in (*WIDEST_FIRST, "job")}
    wanted |= {f"state.{s}" for s in states} | {f"reason.{r}" for r in reasons}
    assert wanted - set(texts("en")) == set()


def test_every_command_loads_and_has_a_summary() -> None:
    cli = make_cli()
    for name in COMMANDS:
        found = cli.get_command(None, name)  # type: ignore[arg-type]
        assert found is not None
        assert found.name == name
        verbs = getattr(found, "commands", {})
        for key in [name, *(f"{name}-{verb}" for verb in verbs)]:
            assert texts("zh")[f"help.{key}"]


def test_the_language_comes_from_the_first_variable_that_is_set() -> None:
    assert language({}) == "en"
    assert language({"LANG": "zh_CN.UTF-8"}) == "zh"
    assert language({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "en"
    assert language({"LANG": "C", "LC_ALL": "C", "HEADWAY_LANG": "zh"}) == "zh"
    assert language({"HEADWAY_LANG": "", "LANG": "zh_TW"}) == "zh"
