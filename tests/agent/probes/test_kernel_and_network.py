"""Lines of the kernel and print-outs of network tools, of other sources than the shared samples."""

from __future__ import annotations

from typing import Any

import pytest

from headway.agent.probes import port


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        (
            "[1.0] NVRM: Xid (PCI:0000:9b:00.0): 63, pid=<unknown>, name=<unknown>, Row Remapper",
            "xid",
            {"code": 63, "pid": None},
        ),
        ("[1.0] NVRM: Xid (0000:41:00): 48, Double Bit ECC Error", "xid", {"code": 48, "device": "0000:41:00"}),
        ("4,1,2,-;Out of memory: Killed process 12 (python3), UID 0", "oom_kill", {"pid": 12, "process": "python3"}),
        (
            "Jan  1 00:00:00 n1 kernel: Memory cgroup out of memory: Kill process 7 (a b) score 1",
            "oom_kill",
            {"pid": 7, "process": "a b"},
        ),
        ("[1.0] mlx5_core 0000:ca:00.0 ib0: Link down", "link_down", {"device": "ib0"}),
        ("[1.0] ixgbe 0000:05:00.0 eth0: NIC Link is Down", "link_down", {"device": "eth0"}),
        ("[1.0] e1000e: eth1 NIC Link is Down", "link_down", {}),
        ("[1.0] bond0: (slave eth2): link status definitely down, disabling slave", "link_down", {}),
        ("[1.0] blk_update_request: I/O error, dev sdb, sector 123 op 0x0", "io_error", {"device": "sdb"}),
        ("[1.0] nvme0n1: I/O Cmd(0x2) error", "io_error", {"device": "nvme0n1"}),
        ("[1.0] EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2", "fs_error", {"device": "sda1"}),
        ("[1.0] EXT4-fs (sda1): Remounting filesystem read-only", "fs_readonly", {"device": "sda1"}),
        ("[1.0] nfs: server 10.0.0.9 not responding, timed out", "mount_lost", {"device": "10.0.0.9"}),
        ("[1.0] mce: [Hardware Error]: CPU 4: Machine Check Exception: 5 Bank 7", "mce", {"code": 4}),
        ("[1.0] mce: [Hardware Error]: Machine check events logged", "mce", {}),
        ("[1.0] EDAC MC0: 1 UE memory read error on CPU_SrcID#0", "memory_error", {"device": "MC0"}),
        (
            "[1.0] pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received",
            "pcie_error",
            {"device": "0000:00:1c.0"},
        ),
        ("[1.0] INFO: task python3:4242 blocked for more than 120 seconds.", "hung_task", {"pid": 4242, "code": 120}),
        ("[1.0] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [kworker/3:1:77]", "soft_lockup", {"code": 3}),
    ],
)
def test_a_kernel_line_that_tells_of_a_fault_is_told(line: str, kind: str, said: dict[str, Any]) -> None:
    (event,) = port.read("kernel", "", line + "\n")["events"]
    assert event["kind"] == kind
    assert {key: event[key] for key in said} == said


@pytest.mark.parametrize(
    "line",
    [
        "[1.0] IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
        "[1.0] mlx5_core 0000:ca:00.0 ib0: Link up",
        "[1.0] EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
        '[1.0] audit: type=1400 apparmor="ALLOWED" error=-13',
        "[1.0] ACPI Error: No handler for Region [POWR]",
        "[1.0] nvidia-nvlink: Nvlink Core is being initialized, major device number 511",
        "[1.0] XFS (sda2): Mounting V5 Filesystem",
        "[1.0] mce: CPU supports 20 MCE banks",
    ],
)
def test_an_ordinary_kernel_line_tells_of_nothing(line: str) -> None:
    assert port.read("kernel", "dmesg", line + "\n") == {"cards": [], "events": []}


def test_other_network_print_outs_are_read() -> None:
    link = (
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0\n"
        "link mlx5_1/1 state DOWN physical_state DISABLED\n"
    )
    found = port.read("network", "", link)["ports"]
    assert [(one["device"], one["state"], one["netdev"]) for one in found] == [
        ("mlx5_0", "ACTIVE", "ens1f0np0"),
        ("mlx5_1", "DOWN", None),
    ]
    status = (
        "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 4: ACTIVE\n"
        "\tphys state:\t 5: LinkUp\n\trate:\t\t 200 Gb/sec (4X HDR)\n"
    )
    (port_found,) = port.read("network", "ibstatus", status)["ports"]
    assert (port_found["state"], port_found["rate_gbps"]) == ("4: ACTIVE", 200)
    assert port.read("network", "hccn_tool", "link status: DOWN\n")["ports"] == [{"device": None, "state": "DOWN"}]
