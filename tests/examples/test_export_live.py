"""What a checkpoint exports is a Hugging Face folder: transformers reads the same logits and serves it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from headway.domain.template import fill, parse
from tests.examples.ranks import TINY_GPT, environment, free_port, wait_until

SERVE = TINY_GPT.parents[1] / "src" / "headway" / "server" / "templates" / "transformers-serve.toml"
MISSING = [name for name in ("torch", "transformers", "safetensors") if not find_spec(name)]
pytestmark = [pytest.mark.live, pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")]

EXPORT = """
import sys, pathlib, torch
sys.path.insert(0, sys.argv[1])
from model import Shape, TinyGPT
from export import export
torch.manual_seed(3)
model = TinyGPT(Shape())
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, 0.3, 0.2)
torch.save(model.state_dict(), sys.argv[2] + "/own.pt")
export(model, pathlib.Path(sys.argv[2], "hf"))
print(sum(parameter.numel() for parameter in model.parameters()))
"""

COMPARE = """
import sys, json, random, torch
sys.path.insert(0, sys.argv[1])
from model import Shape, TinyGPT
from transformers import AutoModelForCausalLM, AutoTokenizer
folder = sys.argv[2] + "/hf"
theirs, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
ours = TinyGPT(Shape())
ours.load_state_dict(torch.load(sys.argv[2] + "/own.pt"))
tokens = torch.randint(0, 264, (2, 512))
with torch.no_grad():
    mine, hf = ours(tokens), theirs(tokens).logits
draw = random.Random(1)
def letter():
    code = draw.randrange(draw.choice([0x80, 0x800, 0x10000, 0x110000]))
    return letter() if 0xD800 <= code < 0xE000 else chr(code)
texts = ["", " ", "  two  spaces ", "x . y , n't", "\\r\\n\\t\\0", "进程 🚄 naïve", "a<|end|>b<|user|>", "<|pad|>"]
texts += ["".join(letter() for _ in range(draw.randrange(40))) for _ in range(500)]
encoded = [tokenizer.encode(text) for text in texts]
special = [token for ids in encoded[8:] for token in ids if token > 255]
chat = [{"role": "user", "content": "hi"}]
print(json.dumps({
    "difference": (mine - hf).abs().max().item(), "spread": mine.std().item(),
    "wrong": [text for text, ids in zip(texts, encoded) if tokenizer.decode(ids) != text],
    "bytes": encoded[5] == list(texts[5].encode()), "special": special, "vocabulary": len(tokenizer),
    "prompt": tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False),
    "ends": theirs.generation_config.eos_token_id, "end": tokenizer.eos_token,
}))
"""


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    offline = environment(HF_HUB_OFFLINE="1")
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=offline, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    assert 400_000 < int(run(EXPORT, str(TINY_GPT), str(folder))) < 600_000
    return folder


def test_transformers_reads_the_same_logits_and_any_text_survives_the_tokenizer(exported: Path) -> None:
    found = json.loads(run(COMPARE, str(TINY_GPT), str(exported)))
    assert found["difference"] <= 1e-4
    assert found["spread"] > 0.1
    assert found["wrong"] == []
    assert (found["bytes"], found["special"], found["vocabulary"]) == (True, [], 264)
    assert found["prompt"] == "<|begin|><|user|>hi<|turn|><|assistant|>"
    assert (found["ends"], found["end"]) == ([258, 262], "<|end|>")


@pytest.fixture(scope="module")
def served(exported: Path) -> Iterator[str]:
    """The address of the export, served by the shipped template's command once its readiness path answers."""
    template = parse(tomllib.loads(SERVE.read_text(encoding="utf-8")))
    port = free_port()
    parts = {
        "python": sys.executable,
        "model": str(exported / "hf"),
        "port": str(port),
        "host": "127.0.0.1",
        "device": "cpu",
        "served_name": "chat",
    }
    command = [fill(parts, word) for word in template.command]
    address = f"http://127.0.0.1:{port}"
    with open(exported / "log", "wb") as log:
        server = subprocess.Popen(
            command, env=environment(**template.env), cwd=exported, stdout=log, stderr=subprocess.STDOUT
        )

    def is_ready() -> bool:
        assert server.poll() is None, (exported / "log").read_text()
        try:
            with urllib.request.urlopen(f"{address}{template.ready_path}", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    try:
        wait_until(is_ready, "readiness")
        yield address
    finally:
        server.terminate()
        server.wait(60)


def ask(address: str, **more: Any) -> str:
    body = {"messages": [{"role": "user", "content": "def f(x):"}], "max_tokens": 4, **more}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        content: bytes = answer.read()
        return content.decode()


def test_transformers_serve_answers_a_chat_under_the_served_name(served: str) -> None:
    answer = json.loads(ask(served, model="chat"))
    assert answer["usage"]["completion_tokens"] == 4
    assert answer["choices"][0]["message"]["role"] == "assistant"


def test_a_request_without_a_model_is_served_whatever_version_runs(served: str) -> None:
    assert json.loads(ask(served))["usage"]["completion_tokens"] == 4


def test_transformers_serve_streams_a_chat(served: str) -> None:
    lines = [line for line in ask(served, stream=True).splitlines() if line.startswith("data: {")]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert len(chunks) > 2
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"


def test_a_request_for_another_model_is_refused(served: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400") as refused:
        ask(served, model="another")
    refused.value.close()
