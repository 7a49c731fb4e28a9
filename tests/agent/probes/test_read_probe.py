"""The command `headway-agent read-probe`: JSON on stdout, or one sentence in the reader's language."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.probes.scoring import PRINTOUTS


def run(*words: str, lang: str = "en", stdin: bytes = b"") -> tuple[int, str, str]:
    environment = {**os.environ, "HEADWAY_LANG": lang}
    command = [sys.executable, "-m", "headway.agent.main", "read-probe", *words]
    done = subprocess.run(command, input=stdin, capture_output=True, env=environment, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_print_out_becomes_json(shared: Path) -> None:
    path = PRINTOUTS / "nvidia" / "nvidia-smi-03.txt"
    code, out, err = run("--maker", "nvidia", "--tool", "nvidia-smi", str(path))
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {"cards"}
    assert found["cards"][0]["unreadable"] == ["name", "utilisation_pct", "temperature_c", "power_w", "errors"]


def test_the_words_may_come_in_any_order_and_the_text_from_stdin(shared: Path) -> None:
    raw = (PRINTOUTS / "metax" / "mx-smi-02.txt").read_bytes().replace(b"\n", b"\r\n")
    code, out, _ = run("-", "--tool=whatever", "--maker=metax", stdin=raw)
    assert code == 0
    assert json.loads(out)["cards"][4]["health"] == "Not Available"


def test_kernel_lines_and_ports_stand_beside_no_cards(shared: Path) -> None:
    code, out, _ = run("--maker", "kernel", "--tool", "dmesg", str(PRINTOUTS / "kernel" / "dmesg-02.txt"))
    found = json.loads(out)
    assert (code, found["cards"]) == (0, [])
    assert found["events"][0]["code"] == 79


@pytest.mark.parametrize(
    ("words", "en", "zh"),
    [
        (("--maker", "acme", "x"), "there is no maker “acme”", "没有名为“acme”的厂商"),
        (("--maker", "amd", "/no/such/file"), "cannot read /no/such/file", "无法读取文件 /no/such/file"),
        (("--maker", "amd"), "usage:", "用法"),
        (("--maker", "amd", "x", "y"), "usage:", "用法"),
        (("--maker", "amd", "--what", "x"), "usage:", "用法"),
        (
            ("--maker", "nvidia", "--tool", "nvidia-smi", __file__),
            "of no tool known of nvidia",
            "不是 nvidia 任何已知工具",
        ),
    ],
)
def test_what_cannot_be_read_is_told_in_both_languages(words: tuple[str, ...], en: str, zh: str) -> None:
    for lang, sentence in (("en", en), ("zh", zh)):
        code, out, err = run(*words, lang=lang)
        assert (code, out) == (2, "")
        assert sentence in err
        assert "Traceback" not in err
