"""NVIDIA's cards through their own library (NVML) instead of `nvidia-smi`: the same rows, told faster.

Runs as a process of its own (`headway-agent read-nvml`), because a call into a broken driver may never return: whoever
started it can then end it. A function that an older library lacks, or a card that is lost, fails field by field.
"""

from __future__ import annotations

import csv
import ctypes
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARY = "libnvidia-ml.so.1"
_NOT_SUPPORTED, _LOST = 3, 15
_WORDS = {1: "[N/A]", _NOT_SUPPORTED: "[N/A]", 4: "[Insufficient Permissions]", 13: "[N/A]", _LOST: "[GPU is lost]"}
_NAME_BYTES = 96
_CORRECTED, _UNCORRECTED = 0, 1
_VOLATILE, _AGGREGATE = 0, 1


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Pci(ctypes.Structure):
    _fields_ = (
        ("legacy", ctypes.c_char * 16),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("device_id", ctypes.c_uint),
        ("subsystem_id", ctypes.c_uint),
        ("bus_id", ctypes.c_char * 32),
    )


class Unreadable(Exception):
    """NVML's answer was no value; the message is the word that stands for it."""


class Nvml:
    """The library, initialised. Raises OSError where it is not there, Unreadable where the driver does not answer."""

    def __init__(self, library: str = LIBRARY) -> None:
        self._library = ctypes.CDLL(library)
        self._call("nvmlInit_v2")

    def rows(self) -> list[dict[str, str]]:
        """One mapping from csv column to text for each card, as `nvidia-smi --query-gpu` names them."""
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [self._row(index) for index in range(count.value)]

    def _row(self, index: int) -> dict[str, str]:
        handle = ctypes.c_void_p()
        try:
            self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        except Unreadable as error:
            return {"index": str(index), **dict.fromkeys(_COLUMNS, str(error))}
        row = {"index": str(index)}
        for name, read in _COLUMNS.items():
            try:
                row[name] = read(self, handle)
            except Unreadable as error:
                row[name] = str(error)
        return row

    def number(self, function: str, handle: ctypes.c_void_p, *arguments: int) -> int:
        """What a function writes into its last argument."""
        answer = ctypes.c_ulonglong()
        given = (ctypes.c_uint(argument) for argument in arguments)
        self._call(function, handle, *given, ctypes.byref(answer))
        return answer.value

    def fill(self, function: str, handle: ctypes.c_void_p, answer: ctypes.Structure) -> None:
        """Let a function fill a structure."""
        self._call(function, handle, ctypes.byref(answer))

    def name(self, handle: ctypes.c_void_p) -> str:
        """The model."""
        text = ctypes.create_string_buffer(_NAME_BYTES)
        self._call("nvmlDeviceGetName", handle, text, ctypes.c_uint(_NAME_BYTES))
        return text.value.decode("utf-8", "replace")

    def remapped(self, handle: ctypes.c_void_p, which: int) -> str:
        """Corrected, uncorrected, pending, failed rows, in this order."""
        answers = [ctypes.c_uint() for _ in range(4)]
        self._call("nvmlDeviceGetRemappedRows", handle, *map(ctypes.byref, answers))
        return str(answers[which].value)

    def _call(self, function: str, *arguments: object) -> None:
        try:
            code = getattr(self._library, function)(*arguments)
        except AttributeError:
            code = _NOT_SUPPORTED
        if code:
            raise Unreadable(_WORDS.get(code, "[Unknown Error]"))


def _memory(part: str) -> Callable[[Nvml, ctypes.c_void_p], str]:
    def read(nvml: Nvml, handle: ctypes.c_void_p) -> str:
        memory = _Memory()
        nvml.fill("nvmlDeviceGetMemoryInfo", handle, memory)
        return f"{getattr(memory, part) / 1048576:.0f} MiB"

    return read


def _utilisation(nvml: Nvml, handle: ctypes.c_void_p) -> str:
    rates = _Utilisation()
    nvml.fill("nvmlDeviceGetUtilizationRates", handle, rates)
    return f"{rates.gpu} %"


def _bus(nvml: Nvml, handle: ctypes.c_void_p) -> str:
    pci = _Pci()
    nvml.fill("nvmlDeviceGetPciInfo_v3", handle, pci)
    return bytes(pci.bus_id).decode("ascii", "replace")


def _ecc(error: int, counter: int) -> Callable[[Nvml, ctypes.c_void_p], str]:
    return lambda nvml, handle: str(nvml.number("nvmlDeviceGetTotalEccErrors", handle, error, counter))


def _remapped(which: int) -> Callable[[Nvml, ctypes.c_void_p], str]:
    return lambda nvml, handle: nvml.remapped(handle, which)


_COLUMNS: dict[str, Callable[[Nvml, ctypes.c_void_p], str]] = {
    "name": lambda nvml, handle: nvml.name(handle),
    "pci.bus_id": _bus,
    "utilization.gpu": _utilisation,
    "memory.used": _memory("used"),
    "memory.total": _memory("total"),
    "temperature.gpu": lambda nvml, handle: str(nvml.number("nvmlDeviceGetTemperature", handle, 0)),
    "power.draw": lambda nvml, handle: f"{nvml.number('nvmlDeviceGetPowerUsage', handle) / 1000:.2f} W",
    "ecc.errors.uncorrected.volatile.total": _ecc(_UNCORRECTED, _VOLATILE),
    "ecc.errors.corrected.volatile.total": _ecc(_CORRECTED, _VOLATILE),
    "ecc.errors.uncorrected.aggregate.total": _ecc(_UNCORRECTED, _AGGREGATE),
    "ecc.errors.corrected.aggregate.total": _ecc(_CORRECTED, _AGGREGATE),
    "remapped_rows.correctable": _remapped(0),
    "remapped_rows.uncorrectable": _remapped(1),
    "remapped_rows.pending": _remapped(2),
    "remapped_rows.failure": _remapped(3),
}


def is_there(library: str = LIBRARY) -> bool:
    """Whether the library can be loaded; nothing is asked of the driver."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def main() -> int:
    """Print the rows as csv with a line of names; 1 with a sentence where the driver does not answer."""
    try:
        rows = Nvml().rows()
    except OSError as error:
        sys.stderr.write(f"headway-agent: {error}\n")
        return 1
    except Unreadable as error:
        sys.stderr.write(f"headway-agent: NVML failed: {error}\n")
        return 1
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["index", *_COLUMNS])
    writer.writerows([[row["index"], *(row[name] for name in _COLUMNS)] for row in rows])
    return 0
