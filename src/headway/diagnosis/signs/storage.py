"""Signs of storage that is full, failed, missing or out of reach."""

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.signs.sign import LIKELY, PARTICULAR, SURE, VAGUE, Kind, Sign, words
from headway.diagnosis.verdict import Owner

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.DISK_FULL,
        words("no space left on device | errno 28 | enospc | os error 28"),
        SURE,
        but=r"/dev/shm|shmutils|[Ss]hared memory|\bshm\b|inotify",
    ),
    Sign(
        Cause.DISK_FULL,
        words(
            """
            disk quota exceeded | errno 122] | quota exceeded | not enough free disk space | not enough disk space |
            disk is full | filesystem is full | file system is full | low on resource: ephemeral-storage |
            out of inodes | no free inodes | out of disk | 磁盘空间不足 | 磁盘已满 | 超出磁盘配额 | 设备上没有空间 |
            设备没有空间 | 磁盘满
            """
        ),
        SURE,
    ),
    Sign(Cause.DISK_FULL, words("failed writing file"), PARTICULAR, pattern=r"PytorchStreamWriter failed writing"),
    Sign(Cause.DISK_FULL, words("unexpected pos"), LIKELY, pattern=r"inline_container"),
    Sign(Cause.STORAGE_IO, words("stale file handle | errno 116]"), SURE),
    Sign(
        Cause.STORAGE_IO,
        words("stale file handle | errno 116]"),
        SURE + 1,
        cases=("067",),
        retry=Retry.RESTART_SAME_NODES,
    ),
    Sign(
        Cause.STORAGE_IO,
        words(
            """
            input/output error | errno 5] | os error 5) | transport endpoint is not connected | errno 107] |
            errno 121] | remote i/o error | buffer i/o error | blk_update_request | i/o error, dev |
            metadata i/o error | ext4-fs error | remounting filesystem read-only | lustreerror | errno 108] |
            cannot send after transport endpoint shutdown | controller is down; will reset | nvme nvme |
            输入/输出错误 | 存储故障 | 存储 i/o
            """
        ),
        SURE,
        pattern=(
            r"(?i)input/output error|Errno (?:5|107|108|121)\]|os error 5\)|Transport endpoint|Remote I/O|I/O error|"
            r"EXT4-fs error|Remounting filesystem|LustreError|controller is down|I/O \d+ .{0,40}timeout|I/O timeout|"
            r"输入/输出错误|存储"
        ),
        but=r"\bCUDA\b",
    ),
    Sign(
        Cause.STORAGE_IO,
        words(
            """
            not responding, still trying | not responding, timed out | was evicted by | nfs: server |
            mount point is hung | ceph: | libceph: | beegfs | mmfsd | gpfs | juicefs | 存储无响应
            """
        ),
        SURE,
        pattern=(
            r"not responding|was evicted|hung|存储无响应|"
            r"(?:ceph|beegfs|mmfs|gpfs|juicefs).{0,120}(?:timed out|timeout|lost|down|stale|unmount|fail|corrupt|error)"
        ),
        quiet=True,
        but=r" OK$",
    ),
    Sign(Cause.STORAGE_IO, words("connection timed out"), PARTICULAR, pattern=r"\[Errno 110\].{0,40}'/"),
    Sign(
        Cause.STORAGE_IO,
        words("nfs_wb_all | nfs4_file_flush | rpc_wait_bit_killable | ll_file_io | cl_sync_io_wait"),
        VAGUE,
        quiet=True,
    ),
    Sign(Cause.STORAGE_IO, words("blocked for more than"), VAGUE, kind=Kind.HINT),
    Sign(
        Cause.PATH_PERM,
        words("filenotfounderror | permissionerror | notadirectoryerror | isadirectoryerror"),
        PARTICULAR - 2,
        but=r"shared object|\.so\b",
    ),
    Sign(
        Cause.PATH_PERM,
        words(
            """
            no such file or directory | permission denied | 没有那个文件或目录 | 权限不够 |
            路径不存在
            """
        ),
        LIKELY,
        but=(
            r"shared object|\.so[.\d]*:|ssh|publickey|libnvidia|/proc/|ImportError|SSH|fatal error:|known_hosts|"
            r"docker daemon"
        ),
    ),
    Sign(
        Cause.PATH_PERM,
        words(
            """
            bind source path does not exist | not a directory: |
            repo id must be in the form | hfvalidationerror | no file named pytorch_model.bin |
            is not a local folder and is not a valid model identifier | no file named model.safetensors |
            does not appear to have a file named | can't find a valid checkpoint at | 文件不存在 | 权限被拒绝
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.PATH_PERM,
        words(
            """
            mountvolume.setup failed | failedmount | unable to attach or mount volumes | hostpath type check failed |
            mount.nfs: access denied | is not mounted | 未挂载 | 挂载失败
            """
        ),
        PARTICULAR,
        owner=Owner.OPERATOR,
    ),
    Sign(
        Cause.PATH_PERM,
        words("read-only file system"),
        PARTICULAR,
        owner=Owner.OPERATOR,
        but=r"Remounting",
    ),
    Sign(
        Cause.PATH_PERM,
        words("can't open file"),
        LIKELY,
        pattern=r"can't open file '.{1,400}': \[Errno (?:2|13)\]",
        owner=Owner.RESEARCHER,
    ),
    Sign(
        Cause.REMOTE_DATA,
        words(
            """
            max retries exceeded with url | couldn't connect to | huggingface.co | hf.co | too many requests |
            429 client error | localentrynotfounderror | gatedrepoerror | repositorynotfounderror | readtimeouterror |
            chunkedencodingerror | incompleteread | botocore.exceptions | endpointconnectionerror | oss2.exceptions |
            nosuchkey | nosuchbucket | slowdown | 503 server error | 502 server error | 500 server error |
            503 service unavailable | offlinemodeisenabled | hfhubhttperror | urlerror | sslerror |
            certificate_verify_failed | obs.client | modelscope | serverdisconnectederror | invalidaccesskeyid |
            signaturedoesnotmatch | clientconnectorerror | hdfs | remotedisconnected | 读取远端 | 对象存储 | 下载失败
            """
        ),
        LIKELY,
        pattern=(r"(?i)error|exception|refused|timed out|timeout|fail|couldn't|429|50[0-4]|denied|失败|超时|错误"),
        but=r"(?i)wandb|tensorboard|swanlab|will retry|retrying|telemetry|usage stats|warn",
    ),
    Sign(
        Cause.DATA_STALL,
        words(
            """
            dataloader timed out | data loader timed out | waiting for data for more than | 数据读取停滞 | 取数超时
            """
        ),
        SURE,
    ),
)
