"""The words of a table's cell: `a / b`, a number with its unit, and a bracket stay one word. Decides no meaning."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_VALUE = r"(?:N/A|n/a|NA|ERR!|-|\[[^\]\s]*\]|[-+]?\d[\d.,]*[A-Za-z°%]*)"
_BRACKETS = re.compile(r"\[[^\[\]]{0,64}\]|\bUnknown Error\b|\bGPU is lost\b|\bNot Supported\b")
# A letter far behind a number is another column's (`4638      C` is a process and its type).
_UNITS = re.compile(r"(?<=\d)\s(?=(?:%|°C|°|℃|[CcWV]|mW|MHz|Mhz|GHz|[KMGT]i?B|B)(?=[\s/|,)]|$))")
_PAIR = re.compile(rf"(?<!\S)({_VALUE})\s*/\s*({_VALUE})(?=\s|$)")
_LIST = re.compile(r",\s+")
_GLUE = "\x01"
# Labels of several words, which would fall apart at their blanks.
_PHRASES = re.compile(
    r"volatile uncor(?:r\. ?ecc|-events)|(?:compute|mig|sr-iov) m\.|process name|process id|"
    r"process memory(?: ?\([^)]*\))?|"
    r"command line|(?:gpu|xpu|aip|mlu|gcu|dev|hcu|dcu) memory usage|(?:gpu|xpu|aip|mlu|gcu|dev|hcu|dcu) mem(?:ory)?\b|"
    r"device type|pcie lane width|mpc capable|ecc mode|fw ver|gcu virt|device name|product name|card name|"
    r"cu %|disp\. ?a|\[model : revision\]|hcu id|device id|memory usage|\b(?:ai core|ai cpu|ctrl cpu|memory bw)(?=\()|"
    r"npu id|chip id|chip logic id|chip phy-id|chip name|进程名|进程号",
    re.IGNORECASE,
)
_ELASTIC = re.compile(
    r"^(?:[a-z]+[-_ ])?(?:name|process name|command line|command|device name|product name|card name|名称|型号)$|"
    r"^进程名?$",
    re.IGNORECASE,
)


def labels(text: str) -> list[str]:
    """The labels of a head's cell, blanks within a label kept: `GPU-Util  Compute M.` are two."""
    glued = _PHRASES.sub(lambda found: found.group().replace(" ", _GLUE), text)
    return [word.replace(_GLUE, " ") for word in re.sub(r"\s+\(", "(", glued).split()]


def words(text: str) -> list[str]:
    """The words of a data cell."""
    glued = _BRACKETS.sub(lambda found: found.group().replace(" ", _GLUE), text)
    glued = _UNITS.sub("", glued)
    glued = _LIST.sub("," + _GLUE, glued)
    glued = _PAIR.sub(r"\1/\2", glued)
    return [word.replace(_GLUE, " ") for word in glued.split()]


def align(heads: Sequence[str], text: str) -> dict[str, str]:
    """Each label of a cell with its word. A name may have several; where words lack, shape decides: `84C` is `Temp`."""
    if len(heads) == 1:
        return {heads[0]: text.strip()}
    found = words(text)
    elastic = next((at for at, head in enumerate(heads) if _ELASTIC.match(head)), None)
    if elastic is not None:
        behind = len(heads) - elastic - 1
        middle = found[elastic : len(found) - behind] if len(found) > elastic + behind else []
        rest = found[elastic + len(middle) :]
        return dict(zip(heads, [*found[:elastic], " ".join(middle), *rest]))  # noqa: B905 - Python 3.9
    if len(found) > len(heads):
        found = [*found[: len(heads) - 1], " ".join(found[len(heads) - 1 :])]
    if len(found) < len(heads) and found:
        return _by_shape(heads, found)
    return dict(zip(heads, found))  # noqa: B905 - Python 3.9


_SHAPES = (
    (re.compile(r"temp|温度", re.IGNORECASE), re.compile(r"[-\d.]+(?:°?[Cc]|℃)$")),
    (re.compile(r"pwr|power|功", re.IGNORECASE), re.compile(r"[\d.]+m?W\b|.*W$")),
    (re.compile(r"mem|hbm|显存|usage", re.IGNORECASE), re.compile(r".*\d[KMG]i?B?\b|\d+/\d+$")),
    (re.compile(r"util|%|dused|利用|uti", re.IGNORECASE), re.compile(r"[\d.]+%$")),
)


def _by_shape(heads: Sequence[str], found: Sequence[str]) -> dict[str, str]:
    sure: dict[str, str] = {}
    for word in found:
        for head_shape, word_shape in _SHAPES:
            head = next((head for head in heads if head not in sure and head_shape.search(head)), None)
            if head is not None and word_shape.match(word):
                sure[head] = word
                break
    return sure or dict(zip(heads, found))  # noqa: B905 - Python 3.9
