"""What `hy-smi` prints (and `rocm-smi` on a DCU), and the metrics of dcu-exporter."""

from __future__ import annotations

from headway.agent.printouts import exposition
from headway.agent.probes import rocm
from headway.agent.probes.port import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headway.agent.printouts.cards import Card

COMMAND = ("hy-smi",)
parse = rocm.read_columns


def more(_cards: Sequence[Card]) -> list[tuple[Sequence[str], Callable[[str], list[Card]]]]:
    """What is asked beside the table, which shows memory as a share only."""
    return [(("hy-smi", "--showmeminfo", "vram"), rocm.read_lines)]


_METRICS = (
    (r"^dcu_utili[sz]ation\w*$", "utilisation_pct"),
    (r"^dcu_temp\w*$", "temperature_c"),
    (r"^dcu_power_usage$", "power_w"),
    (r"^dcu_used_?memory(?:_bytes)?$", "memory_used_mib"),
    (r"^dcu_memory_?cap(?:_bytes)?$|^dcu_total_?memory\w*$", "memory_total_mib"),
)

READERS = (
    Reader(
        "dcu-exporter",
        r"^dcu_\w+\{",
        lambda text: exposition.cards(
            text, _METRICS, {}, ("minor_number", "device", "device_id"), ("name", "card_model")
        ),
    ),
    Reader("hy-smi", r"^\s*(?:HCU|DCU|GPU)\s+Temp", rocm.read_columns),
    Reader("hy-smi-mem", r"^\s*(?:HCU|DCU|GPU)\s*\[\d+\]\s*:.*memory", rocm.read_lines),
    Reader("hy-smi-lines", r"^\s*(?:HCU|DCU|GPU)\s*\[\d+\]\s*:", rocm.read_lines),
    Reader("hy-smi-json", r"\{\s*\"(?:card|HCU|DCU)\s*\d+\"\s*:", rocm.read_json),
    Reader("hy-smi-csv", r"^\s*(?:device|card|HCU|DCU)\s*,", rocm.read_csv),
)
