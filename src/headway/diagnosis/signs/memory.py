"""Signs of what a machine ran out of: memory, shared memory, limits of the system."""

from headway.diagnosis.cause import Cause
from headway.diagnosis.signs.sign import EVENT, PARTICULAR, SURE, VAGUE, WEAK, Kind, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.HOST_OOM,
        words("killed"),
        VAGUE + 5,
        pattern=r"line \d{1,6}:\s{1,8}\d{1,8} Killed\b|^Killed$|: Killed$",
        but=r"signal|tasks?",
    ),
    Sign(
        Cause.HOST_OOM,
        words("dataloader worker (pid"),
        VAGUE + 5,
        pattern=r"DataLoader worker \(pid\(s\) [\d, ]{1,200}\) exited unexpectedly",
    ),
    Sign(Cause.HOST_OOM, words("killed by sigkill by oom killer"), WEAK),
    Sign(
        Cause.HOST_OOM,
        words(
            """
            out of memory: kill | oom-kill: | memory cgroup out of memory | oomkilled | oom_kill | oom-kill event |
            cgroup out-of-memory handler | invoked oom-killer | oom_reaper
            """
        ),
        EVENT,
        quiet=True,
        but=r"oom_kill[ =:]{1,3}0\b|oomkilled[\"']?[ =:]{1,3}[Ff]alse",
    ),
    Sign(
        Cause.HOST_OOM,
        words("out of memory"),
        EVENT,
        pattern=r"error: (?P<node>[\w.-]{1,80}): tasks? (?P<rank>\d{1,6}).{0,20}?: Out Of Memory",
    ),
    Sign(
        Cause.HOST_OOM,
        words(
            """
            is killed by signal: killed | node running low on memory | memory usage exceeded the threshold |
            exceeded memory limit | exceeded job memory limit | memory limit exceeded | killed due to memory pressure |
            worker was killed due to memory | oom killed | 主机内存不足 | 内存耗尽 | 内存超限 | 超出内存限制
            """
        ),
        SURE,
    ),
    Sign(
        Cause.HOST_OOM,
        words(
            """
            memoryerror | can't allocate memory | std::bad_alloc | unable to allocate | cannot allocate memory |
            内存不足
            """
        ),
        PARTICULAR,
        pattern=(
            r"(?:^|\W)(?:_Array)?MemoryError\b|not enough memory: you tried to allocate|DefaultCPUAllocator|"
            r"std::bad_alloc|Unable to allocate [\d.]+ [KMGTP]iB|Cannot allocate memory|内存不足"
        ),
        but=r"NPU|CUDA|ibv_|memlock|cudaHostAlloc|显存|设备内存|shared memory|shm",
    ),
    Sign(
        Cause.HOST_OOM,
        words("exited with code 137 | exit code 137 | exitcode: 137 | exit code: 137 | 状态码 137"),
        WEAK,
    ),
    Sign(
        Cause.SHM_FULL,
        words(
            """
            unable to allocate shared memory(shm) | out of shared memory | insufficient shared memory |
            killed by signal: bus error | error while creating shared memory segment |
            unable to open shared memory object | failed to create shared memory | unable to write to file </torch_ |
            unable to mmap | shm-size | 共享内存不足
            """
        ),
        SURE,
    ),
    Sign(
        Cause.SHM_FULL,
        words("no space left on device | errno 28"),
        SURE + 1,
        pattern=r"/dev/shm|shmutils|[Ss]hared memory|\bshm\b",
    ),
    Sign(Cause.SHM_FULL, words("bus error | sigbus"), PARTICULAR, but=r"CUDA|fallen off"),
    Sign(
        Cause.OS_LIMIT,
        words(
            """
            too many open files | errno 24] | can't start new thread | pthread_create failed | thread creation failed |
            fork rejected by pids controller | received 0 items of ancdata | inotify watch limit | rlimit_nproc |
            rlimit_memlock | max locked memory | ulimit -l | ulimit -n | ulimit -u |
            fork: retry: resource temporarily unavailable | failed to reserve locked memory |
            user limit on number of processes | 打开的文件过多 | 文件描述符
            """
        ),
        SURE,
    ),
    Sign(
        Cause.OS_LIMIT,
        words("resource temporarily unavailable | cannot allocate memory"),
        PARTICULAR + 5,
        pattern=(
            r"(?i)(?:fork|clone|thread|Errno 11\]|BlockingIOError).{0,120}Resource temporarily unavailable|"
            r"ibv_(?:reg_mr|create_qp|create_cq)\w{0,12}.{0,80}Cannot allocate memory"
        ),
    ),
    Sign(Cause.HOST_OOM, words("out of memory"), VAGUE, kind=Kind.HINT),
)
