"""What ranks say when another one is gone: never a fault of their own."""

from headway.diagnosis.cause import Cause
from headway.diagnosis.signs.sign import VAGUE, WEAK, Kind, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.COMM_TIMEOUT,
        words(
            """
            watchdog caught collective operation timeout | timeout at nccl work |
            observed flight recorder dump signal | collective operation timeout |
            watchdog thread terminated with exception | detected by watchdog | timed out in blocking wait |
            caught collective operation timeout | collective timeout |
            集合通信超时 | 通信超时
            """
        ),
        VAGUE,
        pattern=r"(?i)timeout|timed out|dump signal|watchdog|超时",
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words(
            """
            some nccl operations have failed or timed out | taking the entire process down |
            to avoid data inconsistency | heartbeatmonitor | heartbeat monitor timed out | ncclcommabort |
            communicator was aborted | nccl communicator was aborted | abort complete
            """
        ),
        WEAK,
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words(
            """
            remote process exited | ncclremoteerror | socket recv failed | connection closed by remote peer |
            connection closed by localrank | connection closed by peer | connection reset by peer |
            connectionreseterror | connectionabortederror | brokenpipeerror | broken pipe | nccl error in |
            distbackenderror | remote peer | software caused connection abort | peer closed | peer disconnected |
            peer has been closed | 对端关闭 | 连接被对端 | 连接断开 | 对端断开
            """
        ),
        VAGUE,
        kind=Kind.FOLLOWER,
        but=r"(?i)gloo|wandb|swanlab",
    ),
    Sign(
        Cause.GLOO_COMM,
        words("gloo"),
        VAGUE,
        pattern=r"(?i)gloo.{0,300}?(?:closed by peer|reset by peer|[Tt]imed out|"
        r"Timeout|Broken pipe|EnforceNotMet|refused)",
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words("timed out waiting"),
        VAGUE,
        pattern=r"Timed out waiting \d{1,12} ?ms",
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words(
            """
            store->get | socket timeout | failed to recv, got 0 bytes | distnetworkerror | diststoreerror | tcpstore |
            waiting for 1 more process | timed out initializing process group in store based barrier | worker_count= |
            init-pytorch | rendezvousconnectionerror | connection to the c10d store has failed |
            connection to the rendezvous backend
            """
        ),
        VAGUE + 2,
        pattern=r"(?i)rendezvous|time|fail|got 0|reset|closed|broken|refused|waiting|restarting",
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words(
            """
            polled an error from coordination service | jax distributed service detected fatal errors |
            error from coordination agent | coordination service
            """
        ),
        VAGUE,
        pattern=r"(?i)unhealthy|stopped|detected fatal|unavailable|heartbeat|error",
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words("more than 1eb"),
        VAGUE,
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.HCCL_COMM,
        words(
            """
            ei0002 | ei0006 | ei9999 | notify wait | getting socket times out | wait socket establish timeout |
            hccl error in | err02200 | hccl function error | call hccl api failed | hcclcommdestroy |
            hccl_exec_timeout | hccl timeout | 链路建立超时 | 建链超时 | notify等待超时
            """
        ),
        VAGUE,
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words(
            """
            507046 | ee1002 | stream synchronize timeout | stream sync timeout | error code is 107020 | 流同步超时
            """
        ),
        VAGUE,
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.NODE_DOWN,
        words(
            """
            actordiederror | actorunavailableerror | workercrashederror | enginedeaderror |
            engine core initialization failed | received sigquit from a child | workerproc failed to start |
            workerproc initialization failed | engine process failed to start | enginecore failed to start |
            a worker died or was killed | worker died unexpectedly
            """
        ),
        VAGUE - 1,
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.NODE_DOWN,
        words(
            """
            raytaskerror | worker group failed | killing subprocess |
            closing signal sigterm | got signal: 15 | received sigterm | leaked semaphore | leaked shared_memory |
            failed to send message_task_exit | exited unexpectedly with exit code | parent process exited |
            cleaning up
            """
        ),
        WEAK,
        kind=Kind.FOLLOWER,
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words(
            """
            nccl error | rccl error | cncl error | mccl error | unhandled system error | unhandled cuda error |
            internal check failed | ncclsystemerror | ncclinternalerror | ncclunhandledcudaerror
            """
        ),
        WEAK,
        kind=Kind.FOLLOWER,
    ),
)
