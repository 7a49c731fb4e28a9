"""NVML by a small library of our own that answers as NVIDIA's does: good fields, a lost card, missing functions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.agent.probes import nvidia, nvml

SOURCE = r"""
#include <string.h>
typedef struct { unsigned gpu, memory; } rates;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, sub; char bus_id[32]; } pci;
static int cards[2] = {0, 1};
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { if (i == 2) return 15; *h = &cards[i]; return 0; }
int nvmlDeviceGetName(void *h, char *t, unsigned n) { strncpy(t, "NVIDIA H200", n); return 0; }
int nvmlDeviceGetPciInfo_v3(void *h, pci *p) { strcpy(p->bus_id, "00000000:04:00.0"); return 0; }
int nvmlDeviceGetUtilizationRates(void *h, rates *r) { r->gpu = 97; r->memory = 3; return 0; }
int nvmlDeviceGetMemoryInfo(void *h, memory *m) { m->total = 150754820096ULL; m->used = 1048576; return 0; }
int nvmlDeviceGetTemperature(void *h, unsigned sensor, unsigned *t) { *t = 41; return sensor; }
int nvmlDeviceGetPowerUsage(void *h, unsigned *p) { if (*(int *)h) return 999; *p = 123456; return 0; }
int nvmlDeviceGetTotalEccErrors(void *h, unsigned e, unsigned c, unsigned long long *n) {
    if (*(int *)h) return 3;
    *n = 10 * e + c;
    return 0;
}
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("absent: a C compiler: no cc or gcc on PATH")
    source, built = tmp_path / "nvml.c", tmp_path / "libnvidia-ml.so.1"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", str(built), str(source)], check=True, timeout=60)
    return built


def test_cards_are_read_through_the_library_field_by_field(library: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
    command = [sys.executable, "-m", "headway.agent.main", "read-nvml"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    first, second, lost = (card.as_json() for card in nvidia.parse(done.stdout))
    assert (first["name"], first["bus"], first["utilisation_pct"]) == ("NVIDIA H200", "00000000:04:00.0", 97)
    assert (first["memory_used_mib"], first["memory_total_mib"]) == (1, 143771)
    assert (first["temperature_c"], first["power_w"]) == (41, 123.46)
    assert first["errors"] == {
        "ecc_uncorrected_volatile": 10,
        "ecc_corrected_volatile": 0,
        "ecc_uncorrected_aggregate": 11,
        "ecc_corrected_aggregate": 1,
    }
    assert (second["unreadable"], second["not_available"]) == (["power_w"], ["errors"])
    assert lost["unreadable"][:3] == ["name", "utilisation_pct", "memory_used_mib"]
    assert nvml.is_there(str(library))


def test_a_node_without_the_library_says_so(tmp_path: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    command = [sys.executable, "-m", "headway.agent.main", "read-nvml"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0:
        pytest.skip("absent: a node without NVML: this one has it")
    assert (done.returncode, done.stdout) == (1, "")
    assert "libnvidia-ml.so.1" in done.stderr or "NVML failed" in done.stderr
    assert not nvml.is_there(str(tmp_path / "none.so"))
