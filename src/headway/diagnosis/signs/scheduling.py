"""Signs of what schedulers, registries of images and people do to jobs."""

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.signs.sign import EVENT, LIKELY, PARTICULAR, SURE, WEAK, Kind, Sign, words
from headway.diagnosis.verdict import Owner

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.IMAGE_PULL,
        words(
            """
            manifest unknown | failed to resolve image | not found | repository does not exist | no matching manifest |
            invalidimagename | 镜像不存在
            """
        ),
        SURE,
        pattern=(
            r"(?i)(?:manifest|image|repository).{0,300}(?:not found|unknown|does not exist)|no matching manifest|"
            r"InvalidImageName|镜像不存在"
        ),
        cases=("056",),
        owner=Owner.RESEARCHER,
        retry=Retry.NO_RETRY,
        but=r"(?i)image file|image_|images/|\.(?:jpg|png)|torchvision|image processor",
    ),
    Sign(
        Cause.IMAGE_PULL,
        words(
            """
            errimagepull | imagepullbackoff | failed to pull image | back-off pulling image | pull access denied |
            toomanyrequests | failed to import docker image | enroot import | failed to create containerd task |
            oci runtime create failed | runc create failed | createcontainererror | createcontainerconfigerror |
            runcontainererror | failedcreatepodsandbox | unable to handle docker uri | pyxis: container start failed |
            pyxis: couldn't start container | unable to find image | error response from daemon |
            拉取镜像失败 | 镜像拉取失败 | 容器创建失败
            """
        ),
        SURE - 2,
    ),
    Sign(
        Cause.PREEMPTED,
        words(
            """
            due to preemption | spot instance interruption | spot reclaim | preempted by | was preempted |
            been preempted | job preempted | preempting | preemptionbyscheduler | disruptiontarget | instance-action |
            taintmanagereviction | instance is being reclaimed | evicted by | evicting pod |
            被抢占 | 抢占 | 驱逐 | 实例回收 | 竞价实例
            """
        ),
        EVENT,
        but=r"(?i)\b(?:if|when|unless|once|in case)\b.{0,40}(?:preempt|evict)|如果|若被",
    ),
    Sign(
        Cause.PREEMPTED,
        words("cancelled at"),
        LIKELY,
        pattern=r"CANCELLED AT \S+ DUE TO (?!TIME LIMIT|NODE FAIL|SIGNAL|OUT)",
    ),
    Sign(
        Cause.PREEMPTED,
        words("is preempted"),
        LIKELY,
        cases=("013",),
        but=r"(?i)\bif\b",
    ),
    Sign(
        Cause.PREEMPTED,
        words("spot interruption"),
        EVENT,
        cases=("044",),
    ),
    Sign(
        Cause.PREEMPTED,
        words("evicted"),
        LIKELY,
        pattern=r"(?i)\b(?:reason: )?Evicted\b",
        but=r"(?i)lustre|cache|ost|low on resource|evicted[=: ]{1,3}0\b",
    ),
    Sign(Cause.PREEMPTED, words("received 15 death signal | received death signal 15"), WEAK),
    Sign(
        Cause.TIME_LIMIT,
        words(
            """
            due to time limit | deadlineexceeded | activedeadlineseconds | walltime | wall time | wall-clock limit |
            exceeded wall | time limit exhausted | term_runlimit | run limit | time limit reached | 超过时长 |
            运行时间超过 | 超时限 | 时长上限 | 超过最大运行时间 | job reached maximum | timeout signal
            """
        ),
        EVENT,
        pattern=(
            r"(?i)DUE TO TIME LIMIT|DeadlineExceeded|active ?deadline|(?:exceed|killed|reach|"
            r"expired).{0,60}(?:wall ?time|wall-clock|run limit)|(?:wall ?time|run ?limit|time limit|"
            r"wall-clock limit).{0,60}(?:exceed|reached|exhausted|expired)|TERM_RUNLIMIT|maximum (?:run|wall)|超|上限"
        ),
    ),
    Sign(Cause.PREEMPTED, words("received 15 death signal | received death signal 15"), WEAK),
    Sign(
        Cause.TIME_LIMIT,
        words("--signal= | --time="),
        PARTICULAR,
        pattern=r"--(?:signal|time)=\S{1,40}",
        kind=Kind.HINT,
        quiet=True,
    ),
    Sign(
        Cause.USER_CANCEL,
        words(
            """
            received sighup | sighup received | got signal: 2 | received sigint | cancelled by user |
            canceled by user | cancelled by the user | job was cancelled | job cancelled | scancel | terminal closed |
            用户取消 | 手动停止 | 手动终止 | 人为取消 | 被用户终止
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.USER_CANCEL,
        words("got signal: 1 | signal 1 (sighup) | (sighup)"),
        PARTICULAR,
        pattern=r"got signal: 1\b|SIGHUP",
    ),
    Sign(
        Cause.USER_CANCEL,
        words("cancelled"),
        LIKELY,
        pattern=r"CANCELLED (?:AT \S+ \*\*\*|by \d+|AT \S+ BY|AT \S+ DUE [Tt][Oo] SIGNAL)",
    ),
    Sign(
        Cause.SCHED_PENDING,
        words(
            """
            failedscheduling | insufficient nvidia.com/gpu | insufficient huawei.com/ | cannot be scheduled right now |
            not enough resources to schedule | nodes are available: | assocgrp | qosmax | reqnodenotavail |
            badconstraints | unschedulable | podgroup is not ready | gang scheduling | exceeded quota: |
            no nodes satisfy | 资源不足 | 等待调度 | 排队等待 | 调度失败 | unable to allocate resources |
            never runnable in partition | (resources) | job is pending
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.SCHED_PENDING,
        words("queued and waiting for resources | (priority) | waiting for resources"),
        LIKELY,
    ),
)
