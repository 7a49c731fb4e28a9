"""Older, newer and rarer print-outs: tools before their tables had a MIG row, without names, in other words."""

from __future__ import annotations

from headway.agent.probes import port
from tests.agent.probes.test_variants import quantities, read


def test_the_oldest_nvidia_table_prints_a_share_before_the_memory() -> None:
    text = """
+------------------------------------------------------+
| NVIDIA-SMI 4.304.54   Driver Version: 304.54         |
|-------------------------------+----------------------+----------------------+
| GPU  Name                     | Bus-Id        Disp.  | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap| Memory-Usage         | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla K20m               | 0000:02:00.0     Off |                    0 |
| N/A   28C    P8    16W / 225W |   0%   11MB / 4799MB |      0%      Default |
+-------------------------------+----------------------+----------------------+
| Compute processes:                                               GPU Memory |
|  GPU       PID  Process name                                     Usage      |
|=============================================================================|
|  0        Not Supported                                                     |
+-----------------------------------------------------------------------------+
"""
    (card,) = read("nvidia", text)
    assert quantities(card) == (0, 11, 4799, 28, 16)
    assert (card["name"], card["processes"]) == ("Tesla K20m", [])


def test_windows_columns_and_a_display_card_are_read() -> None:
    text = """
| NVIDIA-SMI 531.14                 Driver Version: 531.14       CUDA Version: 12.1     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                      TCC/WDDM | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf            Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA GeForce RTX 3080       WDDM | 00000000:01:00.0  On |                  N/A |
|  0%   49C    P8               33W / 320W|    899MiB / 10240MiB |      2%      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
"""
    (card,) = read("nvidia", text)
    assert (card["name"], quantities(card)) == ("NVIDIA GeForce RTX 3080", (2, 899, 10240, 49, 33))
    assert card["not_available"] == ["errors"]
    assert card["processes"] is None


def test_two_mig_cards_keep_their_instances_apart() -> None:
    text = """
|=========================================+======================+======================|
+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                     BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |
|                  |                                |        ECC|                       |
|==================+================================+===========+=======================|
|  1    3   0   0  |           14366MiB / 19968MiB  | 28      0 |  2   0    1    0    0 |
|                  |               4MiB / 32767MiB  |           |                       |
+------------------+--------------------------------+-----------+-----------------------+
"""
    head = """| NVIDIA-SMI 535.54.03              Driver Version: 535.54.03    CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                    0 |
| N/A   30C    P0              50W / 400W |      0MiB / 40960MiB |      0%      Default |
|                                         |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+
|   1  NVIDIA A100-SXM4-40GB          On  | 00000000:0F:00.0 Off |                   On |
| N/A   40C    P0             150W / 400W |  14366MiB / 40960MiB |     N/A      Default |
|                                         |                      |              Enabled |
+-----------------------------------------+----------------------+----------------------+
"""
    plain, split = read("nvidia", head + text)
    assert (plain["mig_mode"], split["mig_mode"]) == ("Disabled", "Enabled")
    assert "instances" not in plain
    assert [(one["gpu_instance"], one["memory_used_mib"]) for one in split["instances"]] == [(3, 14366)]
    assert (split["errors"], split["not_available"]) == (None, ["utilisation_pct"])


def test_csv_without_names_is_read_as_far_as_units_tell() -> None:
    text = (
        "0, NVIDIA H100 80GB HBM3, 87 %, 70001 MiB, 81559 MiB, 611.02 W\n"
        "1, NVIDIA H100 80GB HBM3, 0 %, 4 MiB, 81559 MiB, [N/A]\n"
    )
    first, second = read("nvidia", text, "nvidia-smi-csv")
    assert (first["name"], quantities(first)) == ("NVIDIA H100 80GB HBM3", (87, 70001, 81559, None, 611.02))
    assert second["memory_used_mib"] == 4


def test_the_map_and_the_list_of_ascend_name_every_chip() -> None:
    text = (
        "\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name\n"
        "\t0                              0                              0                              Ascend 910B3\n"
        "\t0                              1                              -                              Mcu\n"
        "\t1                              0                              1                              Ascend 910B3\n"
    )
    cards = read("ascend", text)
    assert [(card["index"], card["name"], card["npu"], card["chip"]) for card in cards] == [
        (0, "Ascend 910B3", 0, 0),
        (1, "Ascend 910B3", 1, 0),
    ]


def test_npu_exporter_tells_health_errors_and_processes() -> None:
    label = 'id="3",model_name="910B3",pod_name="p"'
    text = (
        f"npu_chip_info_utilization{{{label}}} 77 1606402000\nnpu_chip_info_health_status{{{label}}} 0 1606402000\n"
        f"npu_chip_info_hbm_used_memory{{{label}}} 56631 1606402000\n"
        f"npu_chip_info_used_memory{{{label}}} 12 1606402000\n"
        f"npu_chip_info_error_code{{{label}}} 2.161e+09 1606402000\n"
        f'npu_chip_info_process_info{{process_id="4242",{label}}} 53312 1606402000\n'
    )
    (card,) = read("ascend", text)
    assert (card["index"], card["utilisation_pct"], card["memory_used_mib"], card["health"]) == (3, 77, 56631, "0")
    assert card["errors"] == {"error_code": 2161000000}
    assert card["processes"] == [{"pid": 4242, "memory_mib": 53312}]


def test_kunluns_first_table_has_a_column_for_everything() -> None:
    text = """Runtime Version: 4.0
Driver Version: 4.0
  DEVICES
---------------------------------------------------------------------------------------------------------------
| DevID |   PCI Addr   | Model |        SN        | INODE      | UseRate |    L3     |    Memory     | Power(W) | Temp |
---------------------------------------------------------------------------------------------------------------
|     0 | 0000:53:00.0 | R200  | 02K00Y6216V0     | /dev/xpu0  |    85 % | 0 / 63 MB | 12 / 16384 MB |       43 |   49 |
|     1 | 0000:56:00.0 | R200  | 02K00Y6216V1     | /dev/xpu1  |     0 % | 0 / 63 MB | 0 / 16384 MB  |       38 |   46 |
---------------------------------------------------------------------------------------------------------------
"""
    first, second = read("kunlun", text)
    assert (first["index"], first["name"], quantities(first)) == (0, "R200", (85, 12, 16384, 49, 43))
    assert (second["index"], quantities(second)) == (1, (0, 0, 16384, 46, 38))


def test_amds_monitor_as_json_has_no_sections() -> None:
    text = (
        '[{"gpu": 0, "power_usage": {"value": 140, "unit": "W"}, "hotspot_temperature": {"value": 41, "unit": "C"},'
        ' "gfx": {"value": 83, "unit": "%"}, "vram_used": {"value": 283, "unit": "MB"},'
        ' "vram_total": {"value": 196300, "unit": "MB"}}, {"gpu": 1, "power_usage": "N/A", "gfx": "N/A"}]'
    )
    first, second = read("amd", text)
    assert quantities(first) == (83, 283, 196300, 41, 140)
    assert second["not_available"] == ["utilisation_pct", "power_w"]


def test_a_second_table_behind_the_processes_gives_no_processes() -> None:
    text = """| MX-SMI 2.2.9                      Kernel Mode Driver Version: 3.4.4            |
|------------------+-----------------+---------------------+----------------------|
| Board       Name | GPU   Persist-M | Bus-id              | GPU-Util      sGPU-M |
| Pwr:Usage/Cap    | Temp       Perf | Memory-Usage        | GPU-State            |
|==================+=================+=====================+======================|
| 0     MetaX C500 | 0           Off | 0000:0e:00.0        | 97%          Enabled |
| 298W / 350W      | 61C          P0 | 61022/65536 MiB     | Available            |
+------------------+-----------------+---------------------+----------------------+
| Process:                                                                        |
|  GPU                    PID         Process Name                 GPU Memory     |
|                                                                  Usage(MiB)     |
|=================================================================================|
|  0                      91877       python                       60196          |
+---------------------------------------------------------------------------------+
| sGPU                                                                            |
|  GPU     sGPU-Id        Minor       Compute%                     VRAM           |
|=================================================================================|
|  0       0              1           50                           32000          |
+---------------------------------------------------------------------------------+
"""
    (card,) = read("metax", text)
    assert card["processes"] == [{"pid": 91877, "memory_mib": 60196, "name": "python"}]


def test_adapters_are_told_by_other_tools_too() -> None:
    netdevs = "mlx5_0 port 1 ==> ib0 (Up)\nmlx5_bond_0 port 1 ==> bond0 (Down)\n"
    found = port.read("network", "", netdevs)["ports"]
    assert [(one["device"], one["netdev"], one["state"]) for one in found] == [
        ("mlx5_0", "ib0", "Up"),
        ("mlx5_bond_0", "bond0", "Down"),
    ]
    info = (
        "hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand (0)\n\t\tport:\t1\n"
        "\t\t\tstate:\t\t\tPORT_DOWN (1)\n\t\t\tlink_layer:\t\tEthernet\n"
    )
    (adapter,) = port.read("network", "", info)["ports"]
    assert (adapter["device"], adapter["state"], adapter["link_layer"]) == ("mlx5_0", "PORT_DOWN (1)", "Ethernet")
    two = (
        "CA 'mlx4_0'\n\tCA type: MT4099\n\tPort 1:\n\t\tState: Active\n\t\tRate: 40\n"
        "\tPort 2:\n\t\tState: Initializing\n\t\tRate: 10\n"
    )
    assert [(one["port"], one["state"], one["rate_gbps"]) for one in port.read("network", "", two)["ports"]] == [
        (1, "Active", 40),
        (2, "Initializing", 10),
    ]


def test_a_second_table_of_the_same_cards_adds_and_its_processes_are_found() -> None:
    text = """Runtime Version: 4.31
Driver Version: 4.0
  DEVICES
-------------------------------------------------------------------------------------------
| DevID |   PCI Addr   | Model |   SN   |    INODE   | State | UseRate |    L3     |    Memory    |
-------------------------------------------------------------------------------------------
|     0 | 0000:53:00.0 | R300  | 02Kxxx | /dev/xpu0  |     N |     0 % | 0 / 63 MB | 504 / 32768 MB |
|     1 | 0000:56:00.0 | R300  | 02Kxxx | /dev/xpu1  |     N |     9 % | 0 / 63 MB | 0 / 32768 MB |
-------------------------------------------------------------------------------------------
  VIDEO
-----------------------------------------------------------------------------------
| DevID | Model |         DEC         |         ENC         |       IMGPROC       |
-----------------------------------------------------------------------------------
|     0 |  R300 | 0 %, 0 fps, 800 MHz | 0 %, 0 fps, 800 MHz | 0 %, 0 fps, 800 MHz |
|     1 |  R300 | 0 %, 0 fps, 800 MHz | 0 %, 0 fps, 800 MHz | 0 %, 0 fps, 800 MHz |
-----------------------------------------------------------------------------------
  PROCESSES
-------------------------------------------------
| DevID | PID  | Streams | L3 | Memory | Command |
-------------------------------------------------
|     0 | 4242 |       1 |  0 | 500 MB | python3 |
-------------------------------------------------
"""
    first, second = read("kunlun", text)
    assert (first["index"], first["health"], first["memory_used_mib"]) == (0, "N", 504)
    assert (second["utilisation_pct"], second["processes"]) == (9, [])
    assert first["processes"] == [{"pid": 4242, "memory_mib": 500, "name": "python3"}]


def test_enflames_first_table_has_no_double_rule_and_no_slash() -> None:
    text = """
+2024-12-06, 11:33:56 CST--------------------------------------------------+
|EFSMI    V1.2.0.301       Driver Ver: 1.2.0.301                           |
|--------------------------------------------------------------------------|
|--------------------------------------------------------------------------|
| DEV    NAME                | FW VER          | BUS-ID      ECC           |
| TEMP   Dpm   Pwr(Usage/Cap)| Mem     GCU Virt| DUsed       SN            |
|--------------------------------------------------------------------------|
| 0      S60                 | 33.6.2          | 00:01:00.0  Disable       |
| 39 C   Sleep    105W  300W | 49120MiB Disable|   0.0%      A073640510015 |
+--------------------------------------------------------------------------+
"""
    (card,) = read("enflame", text)
    assert (card["name"], quantities(card)) == ("S60", (0, None, 49120, 39, 105))
    newer = text.replace("39 C   Sleep    105W  300W", "35     LP1      68W / 300W").replace("FW VER ", "Boot FW VER ")
    assert quantities(read("enflame", newer)[0]) == (0, None, 49120, 35, 68)
    dmon = (
        "*Dev Pwr    DTemp  Sip    DUsed  Dpm     MUsed  Mem    Mclk   TxPci   RxPci\n"
        "*Idx W      C      %      %      L       %      MiB    MHz    MiB/s   MiB/s\n"
        "6    100    34     0.0    12.5   Sleep   2.6    42976  7000   0       0\n"
    )
    (card,) = read("enflame", dmon)
    assert (card["index"], quantities(card), card["memory_used_pct"]) == (6, (12.5, None, 42976, 34, 100), 2.6)


def test_amds_table_of_a_card_without_power_and_of_a_virtual_function() -> None:
    text = """
| AMD-SMI 26.2.2+1d06e2956f    amdgpu version: 6.16.13  ROCm version: 7.2.1    |
|-------------------------------------+----------------------------------------|
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:05:00.0 AMD Instinct MI300X VF | 0 %      39 °C   4           142/750 W |
|   0       0       2        SPX/NPS1 | 0 %        N/A           285/196288 MB |
|-------------------------------------+----------------------------------------|
| 0000:c5:00.0    AMD Radeon Graphics | N/A        N/A   0             N/A/0 W |
|   1       1     N/A             N/A | N/A        N/A              161/512 MB |
+-------------------------------------+----------------------------------------+
| Processes:                                                                   |
|  GPU        PID  Process Name          GTT_MEM  VRAM_MEM  MEM_USAGE     CU % |
|==============================================================================|
|    0       4242  python3 train.py       2.0 MB    1.5 GB     1.6 GB      N/A |
+------------------------------------------------------------------------------+
"""
    first, second = read("amd", text)
    assert (first["name"], quantities(first)) == ("AMD Instinct MI300X VF", (0, 285, 196288, 39, 142))
    assert (first["errors"], first["partition"]) == ({"uncorrectable": 4}, "SPX/NPS1")
    assert first["processes"] == [{"pid": 4242, "memory_mib": 1536, "name": "python3 train.py"}]
    assert (second["memory_used_mib"], second["memory_total_mib"]) == (161, 512)
    assert second["not_available"] == ["utilisation_pct", "temperature_c", "power_w"]


def test_gaudi_3_counts_events_and_a_print_out_may_be_indented() -> None:
    text = """    +-----------------------------------------------------------------------------+
    | HL-SMI Version:                              hl-1.21.0-fw-59.2.1.0          |
    | Driver Version:                                     1.20.1-366eb9c          |
    | Nic Driver Version:                                 1.20.1-213b09b          |
    |-------------------------------+----------------------+----------------------+
    | AIP  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncor-Events|
    | Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | AIP-Util  Compute M. |
    |===============================+======================+======================|
    |   0  HL-325L             N/A  | 0000:e9:00.0     N/A |                   3  |
    | N/A   36C   P0  228W /  900W  |   672MiB / 131072MiB |     7%            0% |
    |-------------------------------+----------------------+----------------------+
"""
    (card,) = read("intel", text)
    assert (card["name"], quantities(card)) == ("HL-325L", (7, 672, 131072, 36, 228))
    assert card["errors"] == {"ecc_uncorrected_volatile": 3}


def test_the_first_moore_threads_table_and_a_blotted_out_memory() -> None:
    text = """mthreads-gmi:1.6.0           Driver Version:N/A
ID   Name           |PCIe                |%GPU  Mem
     Device Type    |Pcie Lane Width     |Temp  MPC Capable
+-------------------------------------------------------------+
0    MTT S2000      |00000000:04:00.0    |0%    4MiB(16384MiB)
     Physical       |8x(8x)              |50C   NO
Processes:
   No running processes found
"""
    (card,) = read("mthreads", text)
    assert (card["name"], quantities(card), card["processes"]) == ("MTT S2000", (0, 4, 16384, 50, None), [])
    blotted = """| CNMON v5.10.13                                               Driver v5.10.13 |
+-------------------------------+----------------------+-----------------------+
| Card  VF  Name       Firmware |               Bus-Id | Util        Ecc-Error |
| Fan   Temp      Pwr:Usage/Cap |         Memory-Usage | Mode     Compute-Mode |
|===============================+======================+=======================|
| 7     /   MLUXXX-XX    v1.5.0 |         0000:D3:00.0 | 0%                  0 |
|  0%   33C        105 W/ 550 W |     0 MiB/ xxxxx MiB | FULL          Default |
+-------------------------------+----------------------+-----------------------+
"""
    (card,) = read("cambricon", blotted)
    assert (card["index"], quantities(card)) == (7, (0, 0, None, 33, 105))
    assert card["unreadable"] == ["memory_total_mib"]


def test_ascends_framed_list_has_no_chips_and_older_answers_use_other_words() -> None:
    framed = """
+------------------------+
| NPU ID | Name          |
+========+===============+
| 0      | 910B3         |
| 1      | 910B3         |
+------------------------+
"""
    assert [(card["index"], card["name"]) for card in read("ascend", framed)] == [(0, "910B3"), (1, "910B3")]
    (card,) = read(
        "ascend",
        "\tNPU ID : 1\n\tHealthy : OK\n\tChip Power(W) : 97.3\n\tChip ID : 0\n",
    )
    assert (card["index"], card["health"], card["power_w"]) == (1, "OK", 97.3)


def test_iluvatars_exporter_counts_errors() -> None:
    text = """ix_xid_errors{gpu="0",uuid="GPU-1",name="Iluvatar BI-V150"} 0
ix_gpu_utilization{gpu="0",name="Iluvatar BI-V150"} 31
ix_ecc_dbe_vol_status{gpu="0"} 2
"""
    (card,) = read("iluvatar", text)
    assert (card["name"], card["utilisation_pct"]) == ("Iluvatar BI-V150", 31)
    assert card["errors"] == {"last_xid": 0, "ecc_dbe": 2}


def test_newer_drivers_count_sram_twice_and_a_card_that_waits_for_a_reset_cannot_be_read() -> None:
    text = """==============NVSMI LOG==============
GPU 00000000:0F:00.0
    Product Name                          : NVIDIA H800
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 1
            SRAM Uncorrectable SEC-DED    : 2
            DRAM Uncorrectable            : 1
GPU 00000000:10:00.0
    Product Name                          : NVIDIA H800
    FB Memory Usage
        Total                             : [GPU requires reset]
        Used                              : [GPU requires reset]
    Utilization
        Gpu                               : GPU requires reset
"""
    sound, broken = read("nvidia", text)
    assert sound["errors"] == {
        "ecc_sram_corrected_volatile": 0,
        "ecc_sram_uncorrected_volatile": 3,
        "ecc_uncorrected_volatile": 1,
    }
    assert broken["unreadable"] == ["utilisation_pct", "memory_used_mib", "memory_total_mib"]


def test_a_lost_card_that_still_has_its_row_is_one_card() -> None:
    text = """Unable to determine the device handle for GPU0000:52:00.0: Unknown Error
|=========================================+========================+======================|
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   2  ERR!                           On  |   00000000:52:00.0 Off |                 ERR! |
|ERR!  ERR!   ERR!            ERR! / ERR! |       GPU is lost      |     ERR!      ERR!   |
+-----------------------------------------+------------------------+----------------------+
"""
    (card,) = read("nvidia", text)
    assert (card["index"], card["health"], card["bus"]) == (2, "Unknown Error", "00000000:52:00.0")
    assert quantities(card) == (None,) * 5


def test_a_value_that_could_not_be_read_is_told_without_an_exclamation_mark_too() -> None:
    text = """| CNMON v6.0.3                                                 Driver v6.0.3   |
+-------------------------------+----------------------+-----------------------+
| Card  VF  Name       Firmware |               Bus-Id | Util        Ecc-Error |
| Fan   Temp      Pwr:Usage/Cap |         Memory-Usage | SR-IOV   Compute-Mode |
|===============================+======================+=======================|
| 1     /   MLU590-M9    v1.2.0 |         0000:11:00.0 | ERR             ERR   |
|  N/A  ERR         ERR / 550 W |     ERR / 81920 MiB  | N/A           Default |
+-------------------------------+----------------------+-----------------------+
"""
    (card,) = read("cambricon", text)
    assert quantities(card) == (None, None, 81920, None, None)
    assert card["unreadable"] == ["utilisation_pct", "memory_used_mib", "temperature_c", "power_w", "errors"]


def test_a_row_of_unknown_columns_gives_no_card_of_nonsense() -> None:
    row = "0000:53:00.0 0 0 02K0000000000000 R300 54 0 0 0 81 0 0 N/A N/A 0 0 0 64 0 32768 0 5.0.21"
    assert port.read("kunlun", "xpu_smi-m", row)["cards"] == []
