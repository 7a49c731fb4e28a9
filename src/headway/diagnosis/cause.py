"""The forty classes of causes, and what is usual for each: whose move it is and whether to try again.

The names are those of the operators' catalogue. Nothing here looks at evidence; rules may know better than the usual.
"""

from enum import StrEnum

from headway.diagnosis.verdict import Owner


class Cause(StrEnum):
    """What stopped a job. `NONE`: nothing did."""

    NONE = "NONE"
    USER_CODE_EXC = "USER_CODE_EXC"
    CONFIG_LAUNCH = "CONFIG_LAUNCH"
    COLLECTIVE_DESYNC = "COLLECTIVE_DESYNC"
    DEVICE_ASSERT = "DEVICE_ASSERT"
    CUDA_ILLEGAL_ACCESS = "CUDA_ILLEGAL_ACCESS"
    DEVICE_OOM = "DEVICE_OOM"
    NUMERIC_NAN = "NUMERIC_NAN"
    DATA_BAD_SAMPLE = "DATA_BAD_SAMPLE"
    CKPT_MISMATCH = "CKPT_MISMATCH"
    NATIVE_CRASH = "NATIVE_CRASH"
    LONG_OP_TIMEOUT = "LONG_OP_TIMEOUT"
    HOST_OOM = "HOST_OOM"
    SHM_FULL = "SHM_FULL"
    OS_LIMIT = "OS_LIMIT"
    DISK_FULL = "DISK_FULL"
    STORAGE_IO = "STORAGE_IO"
    PATH_PERM = "PATH_PERM"
    CKPT_CORRUPT = "CKPT_CORRUPT"
    REMOTE_DATA = "REMOTE_DATA"
    DATA_STALL = "DATA_STALL"
    COMM_BOOTSTRAP = "COMM_BOOTSTRAP"
    COMM_TIMEOUT = "COMM_TIMEOUT"
    RDMA_LINK = "RDMA_LINK"
    HCCL_COMM = "HCCL_COMM"
    GLOO_COMM = "GLOO_COMM"
    P2P_TOPO = "P2P_TOPO"
    GPU_ECC = "GPU_ECC"
    GPU_LOST = "GPU_LOST"
    NVLINK_FABRIC = "NVLINK_FABRIC"
    NPU_FAULT = "NPU_FAULT"
    NODE_DOWN = "NODE_DOWN"
    THERMAL_SLOW = "THERMAL_SLOW"
    DRIVER_MISMATCH = "DRIVER_MISMATCH"
    DEP_IMPORT = "DEP_IMPORT"
    IMAGE_PULL = "IMAGE_PULL"
    PREEMPTED = "PREEMPTED"
    TIME_LIMIT = "TIME_LIMIT"
    USER_CANCEL = "USER_CANCEL"
    SCHED_PENDING = "SCHED_PENDING"
    HANG_UNKNOWN = "HANG_UNKNOWN"


class Retry(StrEnum):
    """What to do with the job."""

    NO_RETRY = "no_retry"
    RESTART_SAME_NODES = "restart_same_nodes"
    RESTART_EXCLUDE_NODE = "restart_exclude_node"
    RESTART_AFTER_OPS_FIX = "restart_after_ops_fix"
    WAIT = "wait"


_RESEARCHERS = frozenset(
    {
        Cause.USER_CODE_EXC, Cause.CONFIG_LAUNCH, Cause.COLLECTIVE_DESYNC, Cause.DEVICE_ASSERT,
        Cause.CUDA_ILLEGAL_ACCESS, Cause.DEVICE_OOM, Cause.NUMERIC_NAN, Cause.DATA_BAD_SAMPLE, Cause.CKPT_MISMATCH,
        Cause.NATIVE_CRASH, Cause.LONG_OP_TIMEOUT, Cause.HOST_OOM, Cause.CKPT_CORRUPT, Cause.DEP_IMPORT,
        Cause.TIME_LIMIT, Cause.USER_CANCEL,
    }
)  # fmt: skip

_RETRIES: dict[Retry, frozenset[Cause]] = {
    Retry.RESTART_SAME_NODES: frozenset(
        {
            Cause.CUDA_ILLEGAL_ACCESS, Cause.NATIVE_CRASH, Cause.CKPT_CORRUPT, Cause.REMOTE_DATA, Cause.DATA_STALL,
            Cause.COMM_TIMEOUT, Cause.HCCL_COMM, Cause.GLOO_COMM, Cause.PREEMPTED, Cause.TIME_LIMIT,
            Cause.HANG_UNKNOWN,
        }
    ),
    Retry.RESTART_EXCLUDE_NODE: frozenset(
        {
            Cause.RDMA_LINK, Cause.GPU_ECC, Cause.GPU_LOST, Cause.NVLINK_FABRIC, Cause.NPU_FAULT, Cause.NODE_DOWN,
            Cause.THERMAL_SLOW,
        }
    ),
    Retry.RESTART_AFTER_OPS_FIX: frozenset(
        {
            Cause.SHM_FULL, Cause.OS_LIMIT, Cause.DISK_FULL, Cause.STORAGE_IO, Cause.COMM_BOOTSTRAP, Cause.P2P_TOPO,
            Cause.DRIVER_MISMATCH, Cause.IMAGE_PULL,
        }
    ),
    Retry.WAIT: frozenset({Cause.SCHED_PENDING}),
}  # fmt: skip


def usual_owner(cause: Cause) -> Owner:
    """Whose move a cause usually is."""
    if cause is Cause.NONE:
        return Owner.NOBODY
    return Owner.RESEARCHER if cause in _RESEARCHERS else Owner.OPERATOR


def usual_retry(cause: Cause) -> Retry:
    """Whether a job stopped by it is usually worth another try, and where."""
    return next((retry for retry, causes in _RETRIES.items() if cause in causes), Retry.NO_RETRY)
