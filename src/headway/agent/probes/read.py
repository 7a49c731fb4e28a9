"""`headway-agent read-probe`: one print-out on a file as JSON on stdout, or one sentence on stderr in zh or en."""

from __future__ import annotations

import json
import os
import sys

from headway.agent.printouts import screen
from headway.agent.probes import port

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USAGE = "headway-agent read-probe --maker M [--tool T] FILE"
_SAYS = {
    "usage": {
        "zh": f"用法：{USAGE}（FILE 为 - 时从标准输入读取）",
        "en": f"usage: {USAGE}   (FILE may be -: standard input)",
    },
    "unknown-maker": {
        "zh": "没有名为“{maker}”的厂商。可选：{makers}",
        "en": "there is no maker “{maker}”. Choose one of: {makers}",
    },
    "unreadable": {
        "zh": "无法读取文件 {path}：{why}。请检查路径和权限",
        "en": "cannot read {path}: {why}. Check the path and its permissions",
    },
    "unknown-text": {
        "zh": "{path} 中的文字不是 {maker} 任何已知工具的输出（已知：{tools}）。"
        "请检查 --maker，或把该工具的完整输出原样保存",
        "en": "the text of {path} is of no tool known of {maker} (known: {tools}). "
        "Check --maker, or keep the tool's whole output as it is",
    },
}


def main(words: Sequence[str]) -> int:
    """Read the file that the words name; 0 done, 2 the words are wrong or the text is of no known tool."""
    options = _options(words)
    if options is None:
        return _refuse("usage")
    maker, tool, path = options
    if maker not in port.MAKERS:
        return _refuse("unknown-maker", maker=maker, makers=", ".join(port.MAKERS))
    try:
        if path == "-":
            raw = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                raw = file.read()
    except OSError as error:
        return _refuse("unreadable", path=path, why=error.strerror)
    try:
        found = port.read(maker, tool, screen.plain(raw))
    except port.UnknownText:
        tools = ", ".join(sorted(reader.tool for reader in port.readers_of(maker)))
        return _refuse("unknown-text", path=path, maker=maker, tools=tools)
    sys.stdout.buffer.write(json.dumps(found, ensure_ascii=False, indent=1).encode() + b"\n")
    return 0


def _options(words: Sequence[str]) -> tuple[str, str, str] | None:
    """(maker, tool, path); None where they do not say all that is needed, or something unknown."""
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in ("--maker", "--tool"):
            if not equals and not rest:
                return None
            given[name] = value if equals else rest.pop(0)
        elif (word.startswith("-") and word != "-") or "path" in given:
            return None
        else:
            given["path"] = word
    if "--maker" not in given or "path" not in given:
        return None
    return given["--maker"], given.get("--tool", ""), given["path"]


def _refuse(code: str, **params: object) -> int:
    sys.stderr.write(f"headway-agent: {_SAYS[code][language(os.environ)].format(**params)}\n")
    return 2


def language(environ: Mapping[str, str]) -> str:
    """From HEADWAY_LANG, else LC_ALL, LC_MESSAGES or LANG, as the command line does: `zh` or `en`."""
    names = ("HEADWAY_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environ[name] for name in names if environ.get(name)), "en")
    return "zh" if wanted.lower().startswith("zh") else "en"
