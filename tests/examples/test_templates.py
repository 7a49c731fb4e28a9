"""The templates that ship, with the examples and in the server, are ones the platform takes."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from headway.domain.template import Template, fill, parse, values

EXAMPLES = Path(__file__).parents[2] / "examples"
SHIPPED = EXAMPLES.parent / "src" / "headway" / "server" / "templates"
TEMPLATES = sorted([*EXAMPLES.glob("*/template.toml"), *SHIPPED.glob("*.toml")])
FILLED = {"dataset": "stdlib@1", "model": "tiny@1", "string": "something"}


def content(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def filled(template: Template) -> dict[str, str]:
    wanted = {parameter.name: FILLED[parameter.type] for parameter in template.parameters if parameter.default is None}
    return values(template, wanted)


def test_every_shipped_template_is_there() -> None:
    names = {parse(content(path)).name for path in TEMPLATES}
    assert names == {"tiny-gpt", "command", "retest", "torchrun", "transformers-serve", "vllm"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_is_taken_and_every_blank_has_a_value(path: Path) -> None:
    template = parse(content(path))
    parts = {**filled(template), "python": "python3", "source": str(path.parent), "port": "8000", "name": "n"}
    words = [fill(parts, word) for word in template.command]
    assert all(words[:1])
    assert not any("{" in word for word in words)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_every_text_is_there_in_both_languages(path: Path) -> None:
    template = parse(content(path))
    texts = [template.description, *(parameter.help for parameter in template.parameters)]
    assert all(set(text) == {"en", "zh"} and all(text.values()) for text in texts)


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
def test_the_training_takes_every_option_its_template_gives() -> None:
    template = parse(content(EXAMPLES / "tiny_gpt" / "template.toml"))
    program = EXAMPLES / "tiny_gpt" / "train.py"
    shown = subprocess.run(
        [sys.executable, str(program), "--help"], capture_output=True, text=True, timeout=120, check=True
    )
    given = [word for word in template.command if word.startswith("--")]
    assert [option for option in given if option not in shown.stdout] == []
