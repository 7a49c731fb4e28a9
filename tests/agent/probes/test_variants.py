"""Layouts of other generations than the shared samples, from what the makers' tools are known to print."""

from __future__ import annotations

from typing import Any

import pytest

from headway.agent.printouts import screen
from headway.agent.probes import port

QUANTITIES = ("utilisation_pct", "memory_used_mib", "memory_total_mib", "temperature_c", "power_w")


def read(maker: str, text: str, tool: str = "") -> list[dict[str, Any]]:
    cards: list[dict[str, Any]] = port.read(maker, tool, screen.plain(text.encode()))["cards"]
    return cards


def quantities(card: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(card[key] for key in QUANTITIES)


NVIDIA_REORDERED = """
==========
== CUDA ==
==========
CUDA Version 12.8.1
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 590.11                 Driver Version: 590.11         CUDA Version: 13.1     |
+-----------------------------------------+------------------------+----------------------+
| Volatile Uncorr. ECC | GPU  Name                 Persistence-M | Bus-Id          Disp.A |
| GPU-Util  Compute M. | Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage |
|               MIG M. |                                         |                        |
|======================+=========================================+========================|
|                    7 |   0  NVIDIA H200                    On  |   00000000:04:00.0 Off |
|    100%      Default | N/A   71C    P0            699W /  700W |  139000MiB / 143771MiB |
|             Disabled |                                         |                        |
+----------------------+-----------------------------------------+------------------------+
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A         1234567      C   python3 -m torch.distributed.run     138000MiB |
|    0   N/A  N/A         1234568    C+G   /usr/bin/x                                 N/A |
+-----------------------------------------------------------------------------------------+
"""

NVIDIA_Q = """==============NVSMI LOG==============

Driver Version                            : 550.90.07
Attached GPUs                             : 2
GPU 00000000:18:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    FB Memory Usage
        Total                             : 81559 MiB
        Reserved                          : 551 MiB
        Used                              : 70001 MiB
        Free                              : 11006 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
        Used                              : 5 MiB
    Utilization
        Gpu                               : 93 %
        Memory                            : 41 %
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 0
            DRAM Correctable              : 3
            DRAM Uncorrectable            : 1
        Aggregate
            DRAM Correctable              : 30
            DRAM Uncorrectable            : 2
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 2
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 66 C
        GPU T.Limit Temp                  : 20 C
        Memory Current Temp               : 80 C
    GPU Power Readings
        Average Power Draw                : N/A
        Instantaneous Power Draw          : 611.02 W
        Current Power Limit               : 700.00 W
    Processes
        GPU instance ID                   : N/A
        Process ID                        : 4242
            Type                          : C
            Name                          : python
            Used GPU Memory               : 69000 MiB

GPU 00000000:2A:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    FB Memory Usage
        Total                             : [GPU is lost]
        Used                              : [GPU is lost]
    Utilization
        Gpu                               : Unknown Error
    Processes                             : None
"""


def test_a_table_with_its_columns_in_another_order_is_read_by_its_head() -> None:
    (card,) = read("nvidia", NVIDIA_REORDERED)
    assert quantities(card) == (100, 139000, 143771, 71, 699)
    assert card["name"] == "NVIDIA H200"
    assert card["errors"] == {"ecc_uncorrected_volatile": 7}
    assert card["processes"] == [
        {"pid": 1234567, "memory_mib": 138000, "name": "python3 -m torch.distributed.run"},
        {"pid": 1234568, "memory_mib": None, "name": "/usr/bin/x"},
    ]


def test_the_same_table_in_box_drawing_and_colours_is_read_alike() -> None:
    drawn = NVIDIA_REORDERED.replace("|", "│").replace("+", "┼").replace("=", "═").replace("-----", "─────")
    assert read("nvidia", "\x1b[32m" + drawn + "\x1b[0m") == read("nvidia", NVIDIA_REORDERED)


def test_a_whole_log_gives_counters_and_tells_a_lost_card() -> None:
    good, lost = read("nvidia", NVIDIA_Q)
    assert quantities(good) == (93, 70001, 81559, 66, 611.02)
    assert good["errors"]["ecc_corrected_volatile"] == 3
    assert good["errors"]["ecc_uncorrected_volatile"] == 1
    assert good["errors"]["ecc_uncorrected_aggregate"] == 2
    assert good["errors"]["remapped_rows_pending"] is True
    assert good["processes"] == [{"pid": 4242, "memory_mib": 69000, "name": "python"}]
    assert lost["unreadable"] == ["utilisation_pct", "memory_used_mib", "memory_total_mib"]
    assert quantities(lost) == (None, None, None, None, None)


@pytest.mark.parametrize(
    ("line", "index", "bus", "health"),
    [
        (
            "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system",
            None,
            "0000:02:00.0",
            "GPU is lost",
        ),
        (
            "Unable to determine the device handle for GPU0000:65:00.0: Unknown Error",
            None,
            "0000:65:00.0",
            "Unknown Error",
        ),
        (
            "Unable to determine the device handle for GPU3: 0000:3B:00.0: Unknown Error",
            3,
            "0000:3B:00.0",
            "Unknown Error",
        ),
    ],
)
def test_a_card_that_fell_off_is_told_by_the_line_that_says_so(line: str, index: Any, bus: str, health: str) -> None:
    (card,) = read("nvidia", line + "\n", "nvidia-smi")
    assert (card["index"], card["bus"], card["health"]) == (index, bus, health)


def test_a_driver_that_does_not_answer_has_no_cards_and_is_no_error() -> None:
    text = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    assert read("nvidia", text, "nvidia-smi") == []
    assert read("nvidia", "No devices were found\n", "nvidia-smi") == []


def test_csv_columns_may_come_in_any_order_and_without_units() -> None:
    text = (
        "timestamp, memory.total [MiB], memory.used [MiB], index, name, utilization.gpu [%], temperature.gpu, "
        "power.draw [W], ecc.errors.uncorrected.volatile.total\n"
        '2026/01/01 00:00:00.000, 81559, 10, 0, "NVIDIA H100, PCIe", 7, 33, 80.10, 2\n'
        "2026/01/01 00:00:00.000, 81559, [N/A], 1, NVIDIA H100, [Not Supported], "
        "[GPU is lost], [Unknown Error], [N/A]\n"
    )
    good, bad = read("nvidia", text, "nvidia-smi-csv")
    assert quantities(good) == (7, 10, 81559, 33, 80.1)
    assert (good["name"], good["errors"]) == ("NVIDIA H100, PCIe", {"ecc_uncorrected_volatile": 2})
    assert bad["not_available"] == ["utilisation_pct", "memory_used_mib", "errors"]
    assert bad["unreadable"] == ["temperature_c", "power_w"]


def test_inactive_links_and_link_errors_are_told() -> None:
    text = (
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-4000-8000-000000000001)\n"
        "\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n\t Link 2: Replay Errors: 4\n\t Link 3: Replay Errors: 1\n"
    )
    (card,) = read("nvidia", text)
    assert card["links"] == [
        {"link": 0, "gb_per_s": 26.562, "active": True},
        {"link": 1, "gb_per_s": None, "active": False},
    ] or card["links"][:2] == [
        {"link": 0, "gb_per_s": 26.562, "active": True},
        {"link": 1, "gb_per_s": None, "active": False},
    ]
    assert card["errors"] == {"nvlink_replay": 5}


def test_dcgm_counts_errors_and_rows_of_every_card() -> None:
    labels = 'gpu="{0}",UUID="u",modelName="NVIDIA H100",pod="a b\\"c"'
    text = "".join(
        f"DCGM_FI_DEV_{name}{{{labels.format(gpu)}}} {value}\n"
        for gpu in (0, 1)
        for name, value in (("GPU_UTIL", 0), ("FB_USED", 3), ("ECC_DBE_VOL_TOTAL", gpu), ("XID_ERRORS", 79 * gpu))
    )
    first, second = read("nvidia", text)
    assert (first["utilisation_pct"], first["memory_used_mib"]) == (0, 3)
    assert second["errors"] == {"ecc_uncorrected_volatile": 1, "last_xid": 79}


def test_dmon_columns_are_read() -> None:
    text = (
        "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n"
        "# Idx     W     C     C     %     %     %     %   MHz   MHz\n"
        "    0    63    28     -    12     0     0     0   715   715\n"
    )
    (card,) = read("nvidia", text)
    assert (card["index"], card["power_w"], card["temperature_c"], card["utilisation_pct"]) == (0, 63, 28, 12)


DUO = """
+--------------------------------------------------------------------------------------------------------+
| npu-smi 25.2.0                                   Version: 25.2.0                                       |
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 2       310P3                 | OK              | NA           45                0     / 0             |
| 0       0                     | 0000:01:00.0    | 3            1529 / 44280                            |
+-------------------------------+-----------------+------------------------------------------------------+
| 2       310P3                 | Critical        | NA           43                0     / 0             |
| 1       1                     | 0000:01:00.0    | 0            1412 / 43693                            |
+===============================+=================+======================================================+
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Chip                  | Process id      | Process name             | Process memory(MB)        |
+===============================+=================+======================================================+
| 2       1                     | 77              | python3 serve.py         | 1000                      |
+===============================+=================+======================================================+
"""


def test_two_chips_of_one_ascend_card_are_two_cards_and_a_process_belongs_to_its_chip() -> None:
    first, second = read("ascend", DUO)
    assert quantities(first) == (3, 1529, 44280, 45, None)
    assert (first["index"], second["index"], second["health"]) == (0, 1, "Critical")
    assert first["not_available"] == ["power_w"]
    assert (first["processes"], second["processes"]) == (
        [],
        [{"pid": 77, "memory_mib": 1000, "name": "python3 serve.py"}],
    )


def test_two_chips_without_a_number_of_their_own_are_told_apart_by_a_point() -> None:
    text = (
        DUO.replace("Chip    Device", "Chip          ")
        .replace("| 0       0  ", "| 0          ")
        .replace("| 1       1  ", "| 1          ")
    )
    assert [card["index"] for card in read("ascend", text)] == ["2.0", "2.1"]


def test_common_answers_lead_with_the_chip_and_end_with_the_controller() -> None:
    text = (
        "\tNPU ID                         : 1\n\tChip Count                     : 1\n\n"
        "\tChip ID                        : 0\n\tMemory Usage Rate(%)           : 0\n"
        "\tHBM Usage Rate(%)              : 91\n"
        "\tAicore Usage Rate(%)           : 6\n\tAicore Freq(MHZ)               : 1800\n"
        "\tTemperature(C)                 : 46\n"
        "\tNPU Real-time Power(W)         : 130.4\n\n\tChip Name                      : mcu\n"
        "\tTemperature(C)                 : 40\n"
    )
    (card,) = read("ascend", text)
    assert (card["index"], card["name"], card["memory_used_pct"]) == (1, None, 91)
    assert (card["utilisation_pct"], card["temperature_c"], card["power_w"]) == (6, 46, 130.4)


def test_a_list_of_ascend_answers_names_every_card() -> None:
    text = "".join(
        f"\tNPU ID : {npu}\n\tChip Count : 2\n\tHealth : {word}\n\tError Code : {code}\n\tChip ID : 0\n"
        f"\tHealth : OK\n\tError Code : NA\n\tChip ID : 1\n"
        for npu, word, code in ((4, "Alarm", "80E18005 80CB8009"), (6, "OK", "NA"))
    )
    cards = read("ascend", text)
    assert [card["index"] for card in cards] == ["4.0", "4.1", "6.0", "6.1"]
    assert cards[0]["errors"] == {"error_codes": ["80E18005", "80CB8009"]}
    assert cards[0]["health"] == "Alarm"
    assert cards[1]["errors"] is None


def test_an_ascend_chip_with_ddr_only_counts_its_ddr() -> None:
    text = (
        "\tNPU ID : 0\n\tDDR Capacity(MB) : 21534\n\tDDR Usage Rate(%) : 5\n"
        "\tDDR Single Bit Error Count : 4\n\tChip ID : 0\n"
    )
    (card,) = read("ascend", text)
    assert (card["memory_total_mib"], card["memory_used_pct"], card["errors"]) == (21534, 5, {"ecc_single_bit": 4})


def test_enflames_older_outline_and_the_one_in_another_section_are_read() -> None:
    old = (
        "        DEV ID 0\n            Device Info\n                Dev Name                : S60\n"
        "                Health                  : True\n            Power Info\n                Power Capa : 300 W\n"
        "                Cur Power               : 102 W\n            Device Mem Info\n"
        "                Mem Size                : 42976 MiB\n                Mem Usage               : 1129 MiB\n"
        "            Temperature Info\n                GCU Temp                : 41 C\n            Device Usage Info\n"
        "                GCU Usage               : 0.5 %\n            RMA Info\n                DBE : 3\n"
    )
    (card,) = read("enflame", old)
    assert quantities(card) == (0.5, 1129, 42976, 41, 102)
    assert (card["health"], card["errors"]) == ("True", {"double_bit": 3})
    merged = (
        "DEV ID 1\n    Device Mem Info\n        Total Size : 42976 MiB\n        Used Size : 1024 MiB\n"
        "    GCU Info\n        GCU Temp : 45 C\n        GCU Usage : 30 %\n"
    )
    (card,) = read("enflame", merged)
    assert quantities(card) == (30, 1024, 42976, 45, None)


def test_hygon_is_read_as_dcu_in_columns_lines_json_and_csv() -> None:
    (column,) = read(
        "hygon",
        "DCU     Temp     AvgPwr     Perf     PwrCap     VRAM%      DCU%      Mode\n"
        "3       51.0C    29.0W      auto     300.0W     7%         1%        Normal\n",
    )
    assert (column["index"], column["temperature_c"], column["memory_used_pct"]) == (3, 51.0, 7)
    first, _ = read(
        "hygon",
        "DCU[0] : Card Series: Z100SM\nDCU[1] : Card Series: Z100SM\n"
        "DCU[0] : DCU use (%): 75\nDCU[0] : vram Total Used Memory (B): 1048576\n",
    )
    assert (first["name"], first["utilisation_pct"], first["memory_used_mib"]) == ("Z100SM", 75, 1)
    (one,) = read(
        "hygon",
        '{"card1":{"HCU use (%)":7,"vram Total Memory (MiB)":"65520","Temperature (Sensor core) (C)":"50.0",'
        '"Average Graphics Package Power (W)": 75.5}}',
    )
    assert (one["index"], one["utilisation_pct"], one["memory_total_mib"]) == (1, 7, 65520)
    assert (one["temperature_c"], one["power_w"]) == (50.0, 75.5)
    rows = read("hygon", "WARNING: low power state\n\ndevice,DCU use (%),DCU memory use (%)\ncard1,4,0\ncard2,N/A,3\n")
    assert [(card["index"], card["utilisation_pct"], card["memory_used_pct"]) for card in rows] == [
        (1, 4, 0),
        (2, None, 3),
    ]
    assert rows[1]["not_available"] == ["utilisation_pct"]


def test_amd_monitor_and_metric_text_are_read() -> None:
    monitor = (
        "GPU  POWER  GPU_TEMP  MEM_TEMP  GFX_UTIL  GFX_CLOCK  MEM_UTIL  VRAM_USED  VRAM_TOTAL\n"
        "  0  182 W     42 °C     41 °C      83 %   1613 MHz       0 %    283 MB   196300 MB\n"
        " 10    N/A       N/A       N/A       N/A        N/A       N/A       N/A         N/A\n"
    )
    first, last = read("amd", monitor)
    assert quantities(first) == (83, 283, 196300, 42, 182)
    assert last["index"] == 10
    assert last["not_available"] == list(QUANTITIES)
    metric = (
        "GPU: 0\n    USAGE:\n        GFX_ACTIVITY: 55 %\n    POWER:\n        SOCKET_POWER: 140 W\n    TEMPERATURE:\n"
        "        EDGE: N/A\n        HOTSPOT: 43 °C\n    MEM_USAGE:\n"
        "        TOTAL_VRAM: 196592 MB\n        USED_VRAM: 283 MB\n"
        "    ECC:\n        TOTAL_CORRECTABLE_COUNT: 1\n        TOTAL_UNCORRECTABLE_COUNT: 0\n"
    )
    (card,) = read("amd", metric)
    assert quantities(card) == (55, 283, 196592, 43, 140)
    assert card["errors"] == {"correctable": 1, "uncorrectable": 0}


def test_rocm_smi_with_a_model_column_and_its_second_line_is_read() -> None:
    text = (
        "Device  [Model : Revision]    Temp    Power  Partitions      SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%\n"
        "        Name (20 chars)       (Edge)  (Avg)  (Mem, Compute)\n"
        "0       [0x0b0c : 0x02]       35.0°C  90.0W  None            800Mhz  1600Mhz  0%   auto  500.0W    1%   99%\n"
        "        0x74a1\n"
    )
    (card,) = read("amd", text)
    assert (card["index"], card["temperature_c"], card["power_w"]) == (0, 35.0, 90.0)
    assert (card["memory_used_pct"], card["utilisation_pct"]) == (1, 99)


def test_metax_with_the_cap_not_available_and_its_sections_are_read() -> None:
    table = (
        "| MX-SMI 2.1.12                       Kernel Mode Driver Version: 2.12.13         |\n"
        "|------------------------------------+---------------------+----------------------+\n"
        "| GPU         NAME                   | Bus-id              | GPU-Util             |\n"
        "| Temp        Pwr:Usage/Cap          | Memory-Usage        |                      |\n"
        "|====================================+=====================+======================|\n"
        "| 0           MetaX C550             | 0000:2a:00.0        | 4%                   |\n"
        "| 34C         97W / NA               | 858/65536 MiB       |                      |\n"
        "+------------------------------------+---------------------+----------------------+\n"
    )
    (card,) = read("metax", table)
    assert quantities(card) == (4, 858, 65536, 34, 97)
    shown = (
        "GPU#2  MXC500  0000:08:00.0\n    Memory\n        vis_vram total : 67108864 KB\n"
        "        vis_vram used : 846848 KB\n"
        "    Utilization\n        GPU : 12 %\n        VPUE : 0 %\n"
    )
    (card,) = read("metax", shown)
    assert (card["index"], card["utilisation_pct"], card["memory_used_mib"], card["memory_total_mib"]) == (
        2,
        12,
        827,
        65536,
    )


def test_a_busy_moore_threads_card_has_its_processes() -> None:
    text = """    mthreads-gmi:2.3.2           Driver Version:3.3.5-server
---------------------------------------------------------------------
ID   Name                 |PCIe                |%GPU  Mem
     Device Type   Perf   |Pcie Lane Width     |Temp  MPC Capable
                                               |      ECC Mode
+-------------------------------------------------------------------+
0    MTT S5000            |00000000:2a:00.0    |97%   66641MiB(81920MiB)
     Physical      P0     |16x(16x)            |72C   YES
                                               |      On-die, EDC
+-------------------------------------------------------------------+
1    MTT S5000            |00000000:3a:00.0    |N/A   N/A
     Physical      P0     |16x(16x)            |N/A   YES
                                               |      On-die, EDC
---------------------------------------------------------------------
Processes:
ID   PID       Process name                         GPU Memory
                                                         Usage
+-------------------------------------------------------------------+
0    4411      python3 train.py                        66000MiB
---------------------------------------------------------------------
"""
    busy, silent = read("mthreads", text)
    assert quantities(busy) == (97, 66641, 81920, 72, None)
    assert busy["processes"] == [{"pid": 4411, "memory_mib": 66000, "name": "python3 train.py"}]
    assert silent["not_available"] == ["utilisation_pct", "memory_used_mib", "memory_total_mib", "temperature_c"]
    assert silent["processes"] == []


def test_cambricon_splits_and_names_its_processes_by_command_line() -> None:
    text = (
        "| CNMON v6.2.29                                                 Driver v6.2.29 |\n"
        "+-------------------------------+----------------------+-----------------------+\n"
        "| Card  MIM Name       Firmware |               Bus-Id | Util        Ecc-Error |\n"
        "| Fan   Temp      Pwr:Usage/Cap |         Memory-Usage | Mode     Compute-Mode |\n"
        "|===============================+======================+=======================|\n"
        "| 0     /   MLU590-M9    v1.5.0 |         0000:0E:00.0 | 100%                3 |\n"
        "|  N/A  71C        431 W/ 500 W | 33654 MiB/ 98304 MiB | FULL          Default |\n"
        "+-------------------------------+----------------------+-----------------------+\n"
        "| Processes:                                                                   |\n"
        "|  Card  MI  PID     Command Line                             MLU Memory Usage |\n"
        "|==============================================================================|\n"
        "|  0     /   48213   python train.py --lr 3e-4 / x                   19664 MiB |\n"
        "+------------------------------------------------------------------------------+\n"
    )
    (card,) = read("cambricon", text)
    assert quantities(card) == (100, 33654, 98304, 71, 431)
    assert card["errors"] == {"ecc": 3}
    assert card["processes"] == [{"pid": 48213, "memory_mib": 19664, "name": "python train.py --lr 3e-4 / x"}]


def test_kunluns_older_chip_prints_milliwatts() -> None:
    line = '0000:03:00.0 1 1 02K0 55 0 0 0 91250 900 900 900 900 900 900 2 16 4000 8064 33 1.0 "K200" 0 0\n'
    (card,) = read("kunlun", line)
    assert quantities(card) == (33, 4000, 8064, 55, 91.25)
    assert card["name"] == "K200"


def test_intels_table_with_a_name_of_two_lines_and_its_dump_are_read() -> None:
    table = """
+----------------------------------------------+----------------------------+------------------------+
|            Intel XPU-SMI v2.0    Driver: 96E1802BAF7F7118043A89B    Level Zero: 1.32.0             |
+----------------------------------------------+----------------------------+------------------------+
| GPU  Name                    Persistence-M   | Bus-Id            Disp.A   |   Volatile Uncorr. ECC |
| Fan              Temp  Pwr:Usage/Cap         | Memory-Usage               |   GPU-Util  Compute M. |
+----------------------------------------------+----------------------------+------------------------+
|   0  Intel(R) Arc(TM) A770   Off             | 0000:03:00.0      Off      |               Disabled |
|      Graphics                                |                            |                        |
| N/A               N/A  45W / 190W            | 3642MiB / 16288MiB         |      N/A       Default |
+----------------------------------------------+----------------------------+------------------------+
"""
    (card,) = read("intel", table)
    assert quantities(card) == (None, 3642, 16288, None, 45)
    assert card["not_available"] == ["utilisation_pct", "temperature_c"]
    dump = (
        "Timestamp, DeviceId, GPU Utilization (%), GPU Power (W), GPU Frequency (MHz), "
        "GPU Core Temperature (Celsius Degree)\n"
        "18:38:50.000,    0,     , 43.72, 2050, 51.00\n18:38:51.000,    0, 4.5, 43.74, 2050, 52.00\n"
    )
    (card,) = read("intel", dump)
    assert (card["utilisation_pct"], card["power_w"], card["temperature_c"]) == (4.5, 43.74, 52.0)
