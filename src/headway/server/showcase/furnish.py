"""Who and what there is before the story begins: nodes, people, projects, quotas, templates, rules. Nobody is real."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from headway.domain.alert import Channel
from headway.domain.errors import Language
from headway.domain.quota_table import read_tree
from headway.domain.resources import Maker, Node, NodeState
from headway.server.access import Role
from headway.server.bootstrap import prepare
from headway.server.operations.alerts.alert_rules import RuleWish, set_rule
from headway.server.operations.assets.assets import add_template, register_dataset
from headway.server.operations.people.directory import (
    Change,
    create_department,
    create_project,
    create_user,
    grant_role,
)
from headway.server.operations.queue.quota import approve, propose
from headway.server.secrets import hash_password
from headway.server.showcase.stage import ENGINE, Stage
from headway.server.showcase.words import said
from headway.store import notices

PASSWORD = "headway-showcase"
ADMIN, OPERATOR, LEAD = "wu", "zhou", "qian"
PEOPLE: tuple[tuple[str, Role, str | None], ...] = (
    (ADMIN, Role.ADMIN, None),
    (OPERATOR, Role.OPERATOR, None),
    (LEAD, Role.LEAD, "llm"),
    ("zhao", Role.MEMBER, "llm"),
    ("sun", Role.MEMBER, "llm"),
    ("li", Role.MEMBER, "vision"),
    ("zheng", Role.LEAD, "vision"),
    ("wang", Role.MEMBER, "speech"),
    ("feng", Role.VIEWER, "speech"),
)
PROJECTS = {"llm": "foundation", "vision": "perception", "speech": "perception"}
QUOTAS = """
[departments.foundation]
[departments.perception]

[projects.llm]
department = "foundation"
cards.h800 = { guaranteed = 64, borrow_ceiling = "any" }
cards.ascend910b = { guaranteed = 16, borrow_ceiling = "any" }

[projects.vision]
department = "perception"
cards.h800 = { guaranteed = 16, borrow_ceiling = 16, per_person = 24 }
cards.ascend910b = { guaranteed = 8 }

[projects.speech]
department = "perception"
cards.h800 = { guaranteed = 16, borrow_ceiling = 8 }
cards.ascend910b = { guaranteed = 24 }
"""
NEXT_QUOTAS = QUOTAS.replace("guaranteed = 16, borrow_ceiling = 16", "guaranteed = 24, borrow_ceiling = 16").replace(
    "guaranteed = 16, borrow_ceiling = 8", "guaranteed = 8, borrow_ceiling = 16"
)
SCRIPT: dict[str, Any] = {
    "config": {"type": "string", "help": {"en": "configuration file", "zh": "配置文件"}},
    "data": {"type": "dataset", "help": {"en": "data set version, name@number", "zh": "数据集版本，名称@编号"}},
}
TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "name": "pretrain",
        "description": {"en": "Megatron-style pre-training", "zh": "Megatron 方式的预训练"},
        "launcher": "torchrun",
        "command": ["{python}", "pretrain.py", "--config", "{config}", "--data", "{data}"],
        "parameters": SCRIPT,
        "resources": {"nodes": 8, "devices_per_node": 8},
        "checkpoint": {"every_steps": 500, "keep": 6},
        "recovery": {"when_stalled": "tell", "retries": 5},
    },
    {
        "name": "finetune",
        "description": {"en": "Fine-tune a base model on one node", "zh": "单机微调基座模型"},
        "launcher": "torchrun",
        "command": ["{python}", "finetune.py", "--config", "{config}"],
        "parameters": {"config": SCRIPT["config"]},
        "resources": {"nodes": 1, "devices_per_node": 8},
        "checkpoint": {"every_steps": 200, "keep": 3},
    },
    {
        "name": "evaluate",
        "description": {"en": "Score a checkpoint on the house benchmarks", "zh": "用内部评测集给检查点打分"},
        "kind": "batch",
        "command": ["{python}", "evaluate.py"],
        "resources": {"nodes": 1, "devices_per_node": 4},
    },
    {
        "name": "chat-serve",
        "description": {"en": "Serve a model version, OpenAI-compatible", "zh": "部署模型版本，兼容 OpenAI 接口"},
        "kind": "service",
        "ready_path": "/health",
        "command": ["{python}", "serve.py", "--model", "{model}", "--port", "{port}"],
        "parameters": {"model": {"type": "model", "help": {"en": "model version", "zh": "模型版本"}}},
        "resources": {"nodes": 1, "devices_per_node": 2, "ranks_per_node": 1, "device_types": ["ascend910b"]},
    },
)
RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("long-wait", {"watches": "queue-wait", "above": 3 * 3600.0}),
    ("stalled", {"watches": "fact:stalled"}),
    ("job-broke", {"watches": "fact:verdict-reached"}),
    ("hot-card", {"watches": "reading:device_temperature_celsius", "above": 85.0, "lasting": timedelta(minutes=5)}),
    ("node-down", {"watches": "node-down", "above": 0.5, "lasting": timedelta(minutes=10)}),
    ("idle-cards", {"watches": "idle-devices", "above": 30.0, "lasting": timedelta(hours=2)}),
)


def machines(language: Language) -> tuple[Node, ...]:
    """Twelve nodes of one maker behind two switches, six of another; one of them is gone."""

    def node(name: str, kind: str, maker: Maker, switch: str) -> Node:
        return Node(name, ENGINE, kind, 8, maker, labels={"switch": switch})

    h800 = [node(f"h{n:02}", "h800", Maker.NVIDIA, f"leaf-{1 + (n - 1) // 6}") for n in range(1, 13)]
    ascend = [node(f"a{n:02}", "ascend910b", Maker.ASCEND, "leaf-3") for n in range(1, 6)]
    gone = Node(
        "a06", ENGINE, "ascend910b", 8, Maker.ASCEND, NodeState.DOWN, said("down", language), {"switch": "leaf-3"}
    )
    return (*h800, *ascend, gone)


def furnish(stage: Stage, language: Language) -> None:
    """Everything that stands before the first job is submitted."""
    platform = stage.platform
    prepare(platform)
    stage.settle()
    stage.daemons.introduce(stage.now)
    hashed = hash_password(PASSWORD)
    change = Change(ADMIN, stage.now)
    with platform.database.write() as c:
        _directory(c, change, hashed)
        for template in TEMPLATES:
            add_template(c, change, template)
        number = propose(c, Change(OPERATOR, stage.now), read_tree(QUOTAS), said("quota-first", language)).number
        approve(c, change, number, None, ({Role.ADMIN}, {Role.OPERATOR}))
        address = f"json://{stage.endpoint.address}/"
        notices.put_channel(c, Channel("duty", address, language, OPERATOR, stage.now))
    folder = _shards(platform.home / "data" / "web-mix")
    register_dataset(platform, Change(LEAD, stage.now), "web-mix", str(folder), said("dataset", language))


def watch(stage: Stage) -> None:
    """The rules that operators write once they have seen what breaks."""
    with stage.platform.database.write() as c:
        for name, watches in RULES:
            set_rule(c, Change(OPERATOR, stage.now), RuleWish(name, recipients=("duty",), **watches))


def _directory(c: Connection, change: Change, hashed: str) -> None:
    for department in sorted(set(PROJECTS.values())):
        create_department(c, change, department)
    for project, department in PROJECTS.items():
        create_project(c, change, project, department)
    for name, role, scope in PEOPLE:
        create_user(c, change, name, hashed, None)
        grant_role(c, change, name, role, scope)


def _shards(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for number in range(4):
        (folder / f"shard-{number:05}.jsonl").write_text('{"text": "进程 headway"}\n' * 200, encoding="utf-8")
    return folder
