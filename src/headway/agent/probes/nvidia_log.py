"""`nvidia-smi -q` as text and as XML: the same tree in two dresses, over many driver generations.

The index is the order of the sections, which is how the tool counts. A counter that reads `N/A` is left out.
"""

from __future__ import annotations

import re

from headway.agent.printouts import outline, values
from headway.agent.printouts.cards import Card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any
    from xml.etree.ElementTree import Element

# Paths are matched in small letters with `_` for blanks, joined by `/`.
_QUANTITIES = (
    (r"^product_name$", "name"),
    (r"^utili[sz]ation/gpu(?:_util)?$", "utilisation_pct"),
    (r"^fb_memory_usage/used$", "memory_used_mib"),
    (r"^fb_memory_usage/total$", "memory_total_mib"),
    (r"^temperature/gpu_(?:current_temp|temp)$", "temperature_c"),
    (r"power_readings/(?:power_draw|average_power_draw|instant_power_draw|instantaneous_power_draw)$", "power_w"),
)
_COUNTERS = (
    (r"^ecc_errors/volatile/single_bit/total$|^ecc_errors/volatile/dram_correctable$", "ecc_corrected_volatile"),
    (r"^ecc_errors/volatile/double_bit/total$|^ecc_errors/volatile/dram_uncorrectable$", "ecc_uncorrected_volatile"),
    (r"^ecc_errors/aggregate/single_bit/total$|^ecc_errors/aggregate/dram_correctable$", "ecc_corrected_aggregate"),
    (r"^ecc_errors/aggregate/double_bit/total$|^ecc_errors/aggregate/dram_uncorrectable$", "ecc_uncorrected_aggregate"),
    (r"^ecc_errors/volatile/sram_correctable$", "ecc_sram_corrected_volatile"),
    (r"^ecc_errors/volatile/sram_uncorrectable(?:_parity|_sec_?ded)?$", "ecc_sram_uncorrected_volatile"),
    (r"^ecc_errors/aggregate/sram_correctable$", "ecc_sram_corrected_aggregate"),
    (r"^ecc_errors/aggregate/sram_uncorrectable(?:_parity|_sec_?ded)?$", "ecc_sram_uncorrected_aggregate"),
    (r"^retired_pages/(?:single_bit_ecc|multiple_single_bit_retirement/retired_count)$", "retired_pages_single_bit"),
    (r"^retired_pages/(?:double_bit_ecc|double_bit_retirement/retired_count)$", "retired_pages_double_bit"),
    (r"^retired_pages/(?:pending_page_blacklist|pending_blacklist|pending_retirement)$", "retired_pages_pending"),
    (r"^remapped_rows/(?:correctable_error|remapped_row_corr)$", "remapped_rows_correctable"),
    (r"^remapped_rows/(?:uncorrectable_error|remapped_row_unc)$", "remapped_rows_uncorrectable"),
    (r"^remapped_rows/(?:pending|remapped_row_pending)$", "remapped_rows_pending"),
    (r"^remapped_rows/(?:remapping_failure_occurred|remapped_row_failure)$", "remapped_rows_failure"),
)

_SECOND_HALF = ("sec_ded", "secded")  # newer drivers print what they correct in SRAM twice: by parity and by code


def read_log(text: str) -> list[Card]:
    """The text of `nvidia-smi -q`, whole or of some sections (`-d`)."""
    found = []
    for at, (mark, rest) in enumerate(outline.split(text, r"^GPU ([0-9A-Fa-f]{4,}:[0-9A-Fa-f:.]+)[^\n]*$")):
        leaves = [("/".join(_plain(name) for name in path), value) for path, value in outline.leaves(rest)]
        card = _card(at, leaves)
        card.others["bus"] = mark.group(1)
        if re.search(r"^\s*Processes\b", rest, re.MULTILINE):
            card.processes = _text_processes(leaves)
        lost = re.search(r"GPU is lost|Unknown Error", mark.group())
        card.health = lost.group() if lost else None
        found.append(card)
    return found


def read_xml(text: str) -> list[Card]:
    """The XML of `nvidia-smi -q -x`. Entities and the document type are never expanded; a broken end is let go."""
    found = []
    for at, piece in enumerate(re.findall(r"<gpu id=.*?</gpu>", text, re.DOTALL)):
        root = _element(piece)
        if root is None:
            continue
        card = _card(at, list(_xml_leaves(root, ())))
        card.others["bus"] = root.get("id")
        section = root.find("processes")
        if section is not None:
            card.processes = _xml_processes(section, card)
        found.append(card)
    return found


def _element(piece: str) -> Element | None:
    from xml.etree import ElementTree

    try:
        return ElementTree.fromstring(re.sub(r"&(?!amp;|lt;|gt;|quot;|apos;|#)", "&amp;", piece))
    except ElementTree.ParseError:
        return None


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_")


def _xml_leaves(element: Element, path: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    for child in element:
        here = (*path, _plain(child.tag))
        if len(child):
            yield from _xml_leaves(child, here)
        elif child.text and child.text.strip():
            yield "/".join(here), child.text.strip()


def _card(at: int, leaves: Iterable[tuple[str, str]]) -> Card:
    card = Card(at)
    for path, text in leaves:
        key = next((key for pattern, key in _QUANTITIES if re.search(pattern, path)), None)
        if key is not None:
            card.take(key, text)
            continue
        counter = next((name for pattern, name in _COUNTERS if re.search(pattern, path)), None)
        if counter is not None:
            _count(card, counter, text, adds=path.endswith(_SECOND_HALF))
        elif path in ("mig_mode/current", "mig_mode/current_mig") and text in ("Enabled", "Disabled"):
            card.others["mig_mode"] = text
    return card


def _count(card: Card, name: str, text: str, adds: bool) -> None:
    if adds and values.number(text) is not None:
        known = (card.errors or {}).get(name, 0)
        card.errors = {**(card.errors or {}), name: known + values.number(text)}
    elif text.lower() in ("yes", "no"):
        card.errors = {**(card.errors or {}), name: text.lower() == "yes"}
    elif values.number(text) is not None or values.is_error(text):
        card.count(name, text)


def _text_processes(leaves: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path, text in leaves:
        key = path.rpartition("/")[2]
        if key == "process_id" and values.number(text) is not None:
            found.append({"pid": values.number(text), "memory_mib": None})
        elif found and key == "name":
            found[-1]["name"] = text
        elif found and key == "used_gpu_memory":
            found[-1]["memory_mib"] = values.mebibytes(text)
    return found


def _xml_processes(section: Element, card: Card) -> list[dict[str, Any]] | None:
    if not len(section) and section.text and section.text.strip():
        card.lacks("processes", section.text)
        return None
    found = []
    for process in section:
        pid = values.number(process.findtext("pid") or "")
        if pid is not None:
            memory = values.mebibytes(process.findtext("used_memory") or "")
            name = (process.findtext("process_name") or "").strip()
            found.append({"pid": pid, "memory_mib": memory, **({"name": name} if name else {})})
    return found
