"""Signs of cards, links between cards and machines that failed: kernel events, makers' codes, what ranks print."""

from headway.diagnosis.cause import Cause
from headway.diagnosis.signs.sign import EVENT, LIKELY, PARTICULAR, SURE, VAGUE, WEAK, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.GPU_ECC,
        words("remapping failure occurred | pending page blacklist"),
        SURE + 5,
        pattern=r"(?:Failure Occurred|Blacklist)\s{0,20}: Yes",
    ),
    Sign(
        Cause.GPU_LOST,
        words("gpu requires reset | failure 'unknown error' | failure 999"),
        PARTICULAR,
    ),
    Sign(Cause.GPU_LOST, words("err!"), LIKELY, pattern=r"\bERR!"),
    Sign(
        Cause.NODE_DOWN,
        words("communication connection failure"),
        LIKELY,
        pattern=r"failed on node (?P<node>[\w.-]{1,80}): Communication connection failure",
    ),
    Sign(Cause.NODE_DOWN, words("kill task failed"), LIKELY),
    Sign(
        Cause.GPU_ECC,
        words("xid"),
        EVENT,
        pattern=r"(?<!S)Xid(?: \((?P<device>(?:PCI:)?[0-9a-fA-F:.]{4,20})\))?:?.{0,12}?[ :=](?:48|"
        r"64|94|95|140|171|172)\b",
        quiet=True,
        but=r"caused by previous Xid|previous Xid",
    ),
    Sign(
        Cause.GPU_LOST,
        words("xid"),
        EVENT,
        pattern=(
            r"(?<!S)Xid(?: \((?P<device>(?:PCI:)?[0-9a-fA-F:.]{4,20})\))?:?.{0,12}?[ :=](?:79|"
            r"119|120|46|62|109|110|136|"
            r"143|155|156|158|167|54|38)\b"
        ),
        quiet=True,
        but=r"caused by previous Xid|previous Xid",
    ),
    Sign(
        Cause.NVLINK_FABRIC,
        words("xid"),
        EVENT,
        pattern=r"(?<!S)Xid(?: \((?P<device>(?:PCI:)?[0-9a-fA-F:.]{4,20})\))?:?.{0,12}?[ :=](?:74|14[4-9]|150)\b",
        quiet=True,
        but=r"caused by previous Xid|previous Xid",
    ),
    Sign(
        Cause.CUDA_ILLEGAL_ACCESS,
        words("xid"),
        PARTICULAR + 5,
        pattern=r"(?<!S)Xid(?: \((?P<device>(?:PCI:)?[0-9a-fA-F:.]{4,20})\))?:?.{0,12}?[ :=](?:13|31|11|25|32|69|80)\b",
        quiet=True,
        but=r"caused by previous Xid|previous Xid",
    ),
    Sign(
        Cause.GPU_ECC,
        words(
            """
            uncorrectable ecc | ecc uncorrectable | cudaerroreccuncorrectable | double bit ecc | double-bit ecc |
            uncorrectable error detected by ecc | row remapping failure | row remapper |
            uncorrectable hardware errors detected in umc | ras: poison | uncorrectable errors detected in gfx | dbe |
            多比特ecc | 不可纠正 | 不可恢复的ecc | sram ecc | hbm ecc | hbm3 memory | ecc error
            """
        ),
        EVENT - 5,
        pattern=(
            r"(?i)uncorrectable|uncorrected|double[- ]bit|\bDBE\b|poison|remap\w{0,10} fail|"
            r"remapper.{0,40}fail|多比特|不可|"
            r"ecc error (?:encountered|detected|occurred|on )"
        ),
        but=(
            r"(?i)\bNPU\b|0x80E|ascend|davinci|uncorr[\w ]{0,40}[=:|]{1,2} ?0\b|(?<!un)corrected|\bN/A\b|\b0 uncorrect|"
            r"single[- ]bit"
        ),
    ),
    Sign(
        Cause.GPU_LOST,
        words(
            """
            fallen off the bus | gpu is lost | unable to determine the device handle | gsp rpc | rminitadapter failed |
            cudaerrordevicesunavailable | devices are busy or unavailable | device(s) is/are busy or unavailable |
            no devices were found | gpu reset begin | ring gfx timeout | device lost | device is lost | card lost |
            hiperrornodevice | driver hang | gpu hang | 掉卡 | 卡丢失 | unable to communicate with gpu |
            gpu has been lost | musaerrordevicelost | failed to query device | unable to access device
            """
        ),
        EVENT - 5,
        quiet=True,
        but=r"NCCL INFO|previous|\bNPU|昇腾|ascend",
    ),
    Sign(
        Cause.NVLINK_FABRIC,
        words(
            """
            uncorrectable nvlink | sxid | nvswitch | system not yet initialized | error 802 | failure 802 |
            cudaerrorsystemnotready | fabric manager | fabricmanager | nvlink error | nvlink: fatal | nvlink fatal |
            nvlink is down | xgmi | nvlink 故障 | fabric state | mtlink | metalink
            """
        ),
        EVENT - 5,
        pattern=(
            r"(?i)uncorrectable nvlink|SXid.{0,80}\d|nvswitch.{0,80}(?:fatal|error|fail|timeout)|"
            r"system not yet initialized|[Ee]rror 802|failure 802|SystemNotReady|fabric ?manager.{0,80}(?:fail|error|"
            r"not |never|mismatch|abort)|nvlink.{0,60}(?:error|fatal|down|timeout|inactive|fail)|(?:xgmi|mtlink|"
            r"metalink).{0,60}(?:error|fail|down)|fabric state.{0,20}(?:fail|not)|故障"
        ),
        but=r"(?i)NVLink SHARP|0 errors",
    ),
    Sign(
        Cause.NPU_FAULT,
        words(
            """
            0x80e01801 | 0x80e18008 | 0x80e18 | 507053 | hbmc | uce error | multi bit ecc | multi-bit ecc |
            0x81078603 | 0x40f84e00 | npu card drop | card drop | device drop | hbm multi | npu hardware | chip fault |
            hardware fault | 芯片故障 | npu故障 | npu 故障 | npu掉卡 | 芯片异常 | 硬件故障 | 507899 | 507010 |
            lost heartbeat | device heartbeat lost | 507014 | 507011 | aicore timeout | hbm uncorrectable |
            ai core hardware | mlu hardware | hbm ecc | hbm多比特 | aicore超时 | aicore 超时 | ras error |
            device abnormal
            """
        ),
        SURE + 3,
        pattern=(
            r"(?i)0x80E|0x8107|0x40F8|5070(?:53|10|14|11)|507899|hbm|uce|multi[- ]bit ecc|card drop|device drop|"
            r"hardware|chip|芯片|硬件|故障|掉卡|heartbeat|aicore|abnormal|ras error"
        ),
        but=r"(?i)no hardware|hardware_type|hardware:|hardware info|hardware acceler|corrected|[Hh]ardware fault tol",
    ),
    Sign(
        Cause.NODE_DOWN,
        words(
            """
            node failure | node_fail | nodenotready | node not ready | nodelost | kernel panic | soft lockup |
            hard lockup | machine check exception | because its node has died |
            node was marked dead | marked dead because | the node it was running on died | node died |
            not responding, setting down | host is down | unexpectedly rebooted | rebooted unexpectedly |
            lost connection to node | node is unreachable | nodes not responding | node has been lost |
            status is now: nodenotready | 宕机 | 节点失联 | 节点故障 | node is down | power supply failure |
            stopped posting node status | unreachable:noexecute | instance was terminated unexpectedly |
            agent lost heartbeat | lost contact with node | oops: | fatal machine check
            """
        ),
        EVENT - 1,
        quiet=True,
        but=r"(?i)corrected error|CMCI|\bon spot\b|spot|Oops: (?:we|some)",
    ),
    Sign(
        Cause.NPU_FAULT,
        words("error code is 507033 | failed to start the device | tsd client wait response fail | el9999"),
        LIKELY,
    ),
    Sign(
        Cause.NODE_DOWN,
        words("due to failure of node"),
        EVENT - 1,
        pattern=r"due to failure of node (?P<node>[\w.-]{1,80})",
        quiet=True,
    ),
    Sign(
        Cause.NODE_DOWN,
        words("[hardware error]"),
        EVENT - 1,
        pattern=r"(?i)fatal|panic|uncorrected|uncorrectable|unrecover|processor context corrupt|Machine Check:? [1-9]",
        quiet=True,
        but=r"(?i)corrected error, no action|section_type|deferred",
    ),
    Sign(
        Cause.NODE_DOWN,
        words("slurmctld | slurmd | node"),
        EVENT - 1,
        pattern=(
            r"(?:error: )?[Nn]odes? (?P<node>[\w.-]{1,80}) (?:not responding|unexpectedly rebooted|is down|"
            r"has gone down|marked down)|JobId=\d+ .{0,80}node failure|CANCELLED AT \S+ DUE TO NODE FAILURE"
        ),
        quiet=True,
        but=r"(?i)spot",
    ),
    Sign(
        Cause.NODE_DOWN,
        words("失联 | 宕机 | 掉线 | 离线"),
        EVENT - 1,
        pattern=r"(?:节点|机器|主机|服务器).{0,40}(?:失联|宕机|掉线|离线)",
    ),
    Sign(
        Cause.NODE_DOWN,
        words("lost communication with a remote daemon | stopped sending heartbeats | stopped heartbeating"),
        PARTICULAR,
        but=r"coordination service",
    ),
    Sign(
        Cause.NODE_DOWN,
        words("remote daemon:"),
        PARTICULAR,
        pattern=r"Remote daemon: .{0,40}on node (?P<node>[\w.-]{1,80})",
    ),
    Sign(
        Cause.THERMAL_SLOW,
        words(
            """
            thermal slowdown | hw slowdown | sw thermal | hw_thermal | thermal violation |
            temperature above threshold | cpu clock throttled | power brake | straggler | slow node | slow rank |
            clocks throttled | clock throttl | over temperature | overheat | throttled | 过热 | 降频 | 慢节点 | 慢卡 |
            温度过高 | 温度超
            """
        ),
        LIKELY,
        pattern=(
            r"(?i)active|above|detected|throttl|straggler|slow (?:node|rank)|"
            r"over.?temp|overheat|violation|brake|过热|降频|"
            r"慢|温度"
        ),
        but=(
            r"(?i)未降频|无降频|not active|request|rate|I/O|disabled|slowdown.{0,30}: N/A|threshold.{0,20}ok|"
            r"no straggler"
        ),
    ),
    Sign(
        Cause.THERMAL_SLOW,
        words("straggler"),
        LIKELY + 1,
        pattern=r"(?i)straggler.{0,40}?\brank ?[:=#]? ?(?P<rank>\d{1,6})\b",
    ),
    Sign(
        Cause.GPU_LOST,
        words("cuda error: unknown error | cudaerrorunknown | unknown cuda error"),
        VAGUE,
    ),
    Sign(
        Cause.GPU_LOST,
        words("gpu | nvrm"),
        EVENT,
        pattern=r"NVRM:.{0,10}GPU \S{4,40}: GPU has fallen off",
    ),
    Sign(
        Cause.GPU_LOST,
        words("no cuda-capable device is detected | no cuda gpus are available"),
        WEAK + 5,
    ),
)
