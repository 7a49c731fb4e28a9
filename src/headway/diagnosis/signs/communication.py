"""Signs of ranks that cannot reach each other."""

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.signs.sign import EVENT, LIKELY, PARTICULAR, SURE, VAGUE, WEAK, Kind, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.COMM_BOOTSTRAP,
        words(
            """
            connect() timed out | could not find any running ray instance | failed to connect to all addresses |
            failed to connect to ray
            """
        ),
        LIKELY,
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words(
            """
            client socket has timed out after | client socket has failed to connect |
            client socket has failed to resolve | the server socket has failed to listen |
            server socket has failed to bind | address already in use | eaddrinuse | errno 98] | errno: 98 |
            failed to bind | no socket interface found | unable to find address for | rendezvoustimeouterror |
            rendezvousclosederror | 
            gethostbyname | getaddrinfo | failed to connect to all ranks | host key verification failed |
            orte was unable to reliably start | unable to launch | pmi2_init failed | pmix_init failed |
            failed to connect to gcs | unable to connect to gcs | could not resolve hostname |
            bootstrap timeout | bootstrap failed | no interface found |
            bind failed | 端口被占用 | 地址已在使用 | 无法连接主节点 | 连接主节点 | 会合失败 | 域名解析失败
            """
        ),
        LIKELY,
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words(
            """
            name or service not known | temporary failure in name resolution | host not found |
            no address associated with hostname | nodename nor servname
            """
        ),
        LIKELY,
        but=r"https?://|huggingface|HTTPS?Connection|wandb|nslookup",
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words("host not found"),
        LIKELY + 1,
        pattern=r"host not found: Name or service not known",
        cases=("070",),
        retry=Retry.WAIT,
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words("no route to host | network is unreachable | connection refused"),
        LIKELY,
        but=r"https?://|HTTPS?Connection|wandb|retrying|slurm|MESSAGE_TASK_EXIT",
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words("ssh: connect to host | permission denied (publickey | ssh exited with exit code"),
        LIKELY,
        pattern=r"ssh: connect to host (?P<node>[\w.-]{1,80})|publickey",
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words("connection timed out | etimedout | errno 110 | 连接超时"),
        VAGUE + 5,
        but=r"https?://|HTTPS?Connection|wandb|nfs|'/|vendor err|retrying|mysql|redis|ssh",
    ),
    Sign(
        Cause.COMM_TIMEOUT,
        words("socket progress error | socketprogress | socketstartconnect"),
        WEAK,
        pattern=r"NCCL WARN.{0,200}(?:error|failed)",
    ),
    Sign(
        Cause.GLOO_COMM,
        words(
            """
            connectfullmesh failed | makedevicefordhostname | makedeviceforhostname |
            unable to resolve hostname to a (local) address | makedeviceforinterface | gloo connectfullmesh |
            ifa != nullptr. unable to find interface | gloo_socket_ifname | gloo/transport/tcp/device.cc |
            gloo/rendezvous
            """
        ),
        PARTICULAR,
        pattern=r"(?i)gloo",
        retry=Retry.RESTART_AFTER_OPS_FIX,
    ),
    Sign(
        Cause.RDMA_LINK,
        words(
            """
            got async event : port error | got async event: port error | async event : port error |
            async event : device fatal | got async event : local catastrophic | got async event : gid table change
            """
        ),
        SURE + 3,
        pattern=r"port error|fatal|catastrophic",
    ),
    Sign(
        Cause.RDMA_LINK,
        words(
            """
            link down | link is down | port state changed: down | link status definitely down | link_downed |
            carrier lost | link flap | 端口down | 链路down | 网口down | 链路闪断 | 光模块 | 链路中断 | 网口闪断 |
            phy link down | lost link
            """
        ),
        EVENT - 3,
        pattern=(
            r"(?i)(?:mlx|ib\d|ibp|hca|roce|rdma|bnxt|irdma|hinic|hns|hccn|enp|ens|eth\d|bond|port|nic|net\S{0,20}|"
            r"infiniband).{0,120}?(?:link[_ -]?(?:is )?down|link_downed|definitely down|DOWN|carrier lost|flap)|光模块|"
            r"链路闪断|网口闪断|链路中断|(?:端口|网口|链路)(?:down|DOWN)|lost link"
        ),
        quiet=True,
        but=r"(?i)nvlink|docker|veth|virbr|cni|link_downed[ =:]{1,3}0\b",
    ),
    Sign(
        Cause.RDMA_LINK,
        words(
            """
            transport retry counter exceeded | ibv_wc_retry_exc_err | local work queue catastrophic | retry exceeded |
            ibv_modify_qp failed | call to ibv_modify_qp | symbol errors exceeded | health compromised | rdma重传超限 |
            rdma 重传超限 | 重传超限 | no active rdma | invalid gid | remote endpoint is unreachable | error cqe
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.RDMA_LINK,
        words(
            """
            with error 12 | status=12 | with error 5 | vendor err | error 4, | with error 4 | with status
            """
        ),
        VAGUE + 5,
        pattern=r"(?i)(?:NET/IB|ib(?:v_)?\w*|completion).{0,200}(?:error|status)[ =]{0,2}(?:12|5|4|10|13|9|11)\b",
    ),
    Sign(
        Cause.HCCL_COMM,
        words(
            """
            ej0001 | ej0002 | ej0003 | ej0004 | failed to initialize the hccp process |
            last training process is running | hccp进程
            """
        ),
        SURE,
        retry=Retry.RESTART_AFTER_OPS_FIX,
    ),
    Sign(
        Cause.COMM_BOOTSTRAP,
        words("listen | bind"),
        LIKELY,
        pattern=(
            r"(?i)\b(?:listen|bind)\w{0,3}\b.{0,60}?(?<![\d.])(?P<node>(?!0\.|127\.)\d{1,3}(?:\.\d{1,3}){3})\b.{0,60}?"
            r"\bfail"
        ),
    ),
    Sign(
        Cause.HCCL_COMM,
        words("hccl | hcclsocket"),
        PARTICULAR,
        pattern=(
            r"(?i)listen on ip\[(?P<node>[\w.:-]{1,60})\].{0,200}(?:fail|in use|being used)|port.{0,80}(?:been using|"
            r"in use|occupied|被占用)"
        ),
        cases=("017",),
        retry=Retry.RESTART_AFTER_OPS_FIX,
    ),
    Sign(
        Cause.HCCL_COMM,
        words("ei0003 | ei0007 | ei0011 | ei0012 | tls"),
        LIKELY,
        pattern=r"EI00(?:03|07|11|12)|(?i:tls).{0,60}(?i:hccl|switch|inconsisten|mismatch|不一致)",
        retry=Retry.RESTART_AFTER_OPS_FIX,
    ),
    Sign(
        Cause.P2P_TOPO,
        words(
            """
            peer access is not supported | cudaerrorpeeraccess | could not enable p2p | peer access from |
            p2p is not supported | p2p access | acs enabled | acs is enabled | iommu enabled | iommu is enabled |
            failed to open cuda ipc | cudaipcopenmemhandle | p2p不可用 | p2p 不可用
            """
        ),
        LIKELY,
        pattern=r"(?i)fail|not supported|unsupported|could not|cannot|error|acs|iommu|不可用",
        but=r"(?i)INFO.{0,40}P2P is disabled|perf",
    ),
    Sign(
        Cause.P2P_TOPO,
        words("acsctl | reqredir+"),
        WEAK + 5,
        pattern=r"ReqRedir\+",
        cases=("031",),
        quiet=True,
    ),
    Sign(
        Cause.P2P_TOPO,
        words("nccl_p2p_disable=1"),
        PARTICULAR,
        kind=Kind.HINT,
    ),
)
