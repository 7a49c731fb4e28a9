"""Signs of faults in a program, its configuration, its numbers and its collectives."""

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.signs.sign import LIKELY, PARTICULAR, SURE, VAGUE, Kind, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.USER_CODE_EXC,
        words("mpi_abort was invoked on rank"),
        VAGUE,
        pattern=r"invoked on rank (?P<rank>\d{1,6})",
    ),
    Sign(Cause.COLLECTIVE_DESYNC, words("gradients are inconsistent between workers"), SURE),
    Sign(
        Cause.CONFIG_LAUNCH,
        words(
            """
            invalid generic resource | invalid partition specified | requested time limit is invalid |
            invalid account or account/partition | invalid qos specification
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.COLLECTIVE_DESYNC,
        words("failed to pass monitoredbarrier"),
        LIKELY,
        pattern=r"[Rr]anks? (?P<rank>\d{1,6}) failed to pass",
    ),
    Sign(
        Cause.USER_CODE_EXC,
        words(
            """
            expected to have finished reduction in the prior iteration | expected to mark a variable ready only once
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.USER_CODE_EXC,
        words("did not receive grad for rank"),
        VAGUE,
        pattern=r"for rank (?P<rank>\d{1,6})",
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words(
            """
            unrecognized arguments | the following arguments are required | invalid device ordinal |
            duplicate gpu detected | invalid choice: | train_batch_size is not equal to micro_batch |
            check batch related parameters | not enough slots available | there are not enough slots |
            configattributeerror | configkeyerror | configcompositionexception | missingmandatoryvalue |
            could not override | more processors requested than permitted | unsupported nproc_per_node |
            invalid value for -- | no such option | errors during config validation |
            is larger than the maximum number of tokens that can be stored in kv cache | is not a multiple of |
            must be a multiple of | should be a positive integer | must be a positive integer |
            num_samples should be a positive | world size does not match | incompatible with tensor_parallel | ei0004 |
            invalid ranktable | rank table is invalid | ranktable is invalid | exceeds the number of available gpus |
            exceeds the number of visible | bigger than the number of gpus | requested more gpus than |
            you requested gpu | misconfigurationexception | is not supported for the current configuration |
            unknown arguments | invalid rank requested | are not used by the hfargumentparser |
            is larger than the available kv cache | larger than the derived max_model_len |
            got an unexpected option | 配置错误 | 参数配置错误 | 不能整除 |
            参数错误
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words(": command not found | : not found"),
        PARTICULAR,
        pattern=r"^(?:[\w./-]{1,80}: ){1,2}(?:line )?\d{0,6}:? ?[\w./-]{1,120}: (?:command )?not found$",
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words("divisible | 整除"),
        PARTICULAR,
        pattern=(
            r"(?i)(?:must|should|needs?|has) (?:to )?be (?:evenly )?divisible|(?:is|are|was) not (?:evenly )?divisible|"
            r"整除"
        ),
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words("__len__() should return >= 0"),
        LIKELY,
        cases=("051",),
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words("reward function is not implemented"),
        LIKELY,
        cases=("049",),
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words("error: argument | : error:"),
        LIKELY,
        pattern=r"(?:^|\s)[\w./-]{1,120}: error: (?:argument|the following|unrecog|invalid)",
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words("ncclinvalidusage | ncclinvalidargument | nccl error in"),
        VAGUE + 2,
        pattern=r"ncclInvalid(?:Usage|Argument)|NCCL error in.{0,200}, invalid (?:usage|argument)",
    ),
    Sign(
        Cause.CONFIG_LAUNCH,
        words("assertionerror | valueerror | runtimeerror"),
        LIKELY,
        pattern=(
            r"(?:AssertionError|ValueError|RuntimeError):.{0,200}?(?:world[_ ]size|tensor[-_ ](?:model[-_ ])?parallel|"
            r"pipeline[-_ ](?:model[-_ ])?parallel|data[-_ ]parallel|context[-_ ]parallel|"
            r"expert[-_ ](?:model[-_ ])?parallel|global[-_ ]batch|micro[-_ ]batch|num_gpus|num_nodes|nproc|"
            r"CUDA_VISIBLE_DEVICES|ASCEND_RT_VISIBLE_DEVICES)"
        ),
        but=r"timed? ?out|Timed out|TCPStore|socket|NCCL error",
    ),
    Sign(
        Cause.COLLECTIVE_DESYNC,
        words("mismatch between collectives | collectivefingerprint"),
        SURE,
    ),
    Sign(
        Cause.COLLECTIVE_DESYNC,
        words("collectivefingerprint"),
        SURE + 2,
        pattern=r"but Rank (?P<rank>[1-9]\d{0,5}) is running collective",
    ),
    Sign(
        Cause.COLLECTIVE_DESYNC,
        words("disagreement between rank | disagree error"),
        SURE,
        pattern=r"disagreement between rank ?\d{1,6} and rank ?(?P<rank>\d{1,6})|[Dd]isagree",
    ),
    Sign(
        Cause.COLLECTIVE_DESYNC,
        words("inconsistent | appears not to match sizes"),
        SURE,
        pattern=(
            r"Rank (?P<rank>\d{1,6}) has \d{1,9} params, while rank \d{1,6} has inconsistent|"
            r"\[(?P<r>\d{1,6})\]: params\[\d{1,6}\] in this process|inconsistent collective"
        ),
    ),
    Sign(
        Cause.COLLECTIVE_DESYNC,
        words(
            """
            op.preamble.length <= op.nbytes | mismatched collective | mismatched allreduce | mismatched allgather |
            mismatched broadcast | mismatched data types | collective sequence mismatch | collective desync |
            submitted to be reduced, gathered or broadcasted by subset of ranks |
            ranks are not running the same collective | ei0005 | 集合通信不同步 | 集合通信顺序不一致 | 通信算子不一致
            """
        ),
        SURE,
    ),
    Sign(
        Cause.NUMERIC_NAN,
        words(
            """
            loss scale already at minimum | minimum loss scale reached | loss is nan | nan loss |
            loss is infinite or nan | nan or inf found | found nan in | found inf in |
            probability tensor contains either `inf`, `nan` | returned nan values in its | had nan values |
            had inf values | checknumerics | gradients contain nan |
            non-finite loss | loss became nan | loss became inf | loss is inf | loss: nan, stopping | nan detected |
            nan/inf detected | inf or nan | detected nan | nonfinite |
            the total norm of order 2.0 for gradients from `parameters` is non-finite | floatingpointerror |
            loss scale reached its minimum | loss scale has reached | 出现nan | 出现 nan | 梯度溢出 | 损失为nan |
            损失为 nan | 数值溢出
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.NUMERIC_NAN,
        words("found nan | unexpected result nan | unexpected result inf"),
        PARTICULAR,
        pattern=r"(?i)\brank ?(?P<rank>\d{1,6})\b.{0,80}found NaN|Unexpected result (?:nan|inf)",
    ),
    Sign(
        Cause.NATIVE_CRASH,
        words(
            """
            caught signal 11 | caught signal 4 | caught signal 8 | segmentation fault | segfault at |
            double free or corruption | free(): invalid | free(): double | malloc(): | malloc_consolidate |
            corrupted size vs. prev_size | munmap_chunk(): invalid | pure virtual method called |
            stack smashing detected | general protection fault | trap invalid opcode | sigsegv | 段错误
            """
        ),
        SURE,
    ),
    Sign(
        Cause.NATIVE_CRASH,
        words("illegal instruction | floating point exception | aborted (core dumped)"),
        LIKELY,
        but=r"CUDA error|was encountered|Retry|HIP",
    ),
    Sign(
        Cause.NATIVE_CRASH,
        words("' failed."),
        LIKELY,
        pattern=r"[\w./-]{1,160}:\d{1,6}:.{0,300}Assertion [`'].{1,400}' failed\.",
    ),
    Sign(
        Cause.NATIVE_CRASH,
        words("terminate called after throwing"),
        VAGUE,
        but=r"DistBackendError|c10::(?:Dist|Error)|NCCL",
    ),
    Sign(
        Cause.NATIVE_CRASH,
        words("nccl | rccl | libnccl"),
        PARTICULAR,
        pattern=r"nccl[A-Z]\w{2,60}\(\)|libnccl\.so",
        kind=Kind.HINT,
    ),
    Sign(
        Cause.LONG_OP_TIMEOUT,
        words("increase ddp_timeout | ddp_timeout | 预处理超时"),
        VAGUE,
    ),
    Sign(
        Cause.LONG_OP_TIMEOUT,
        words("main_process_first | local_main_process_first"),
        PARTICULAR,
        kind=Kind.HINT,
    ),
    Sign(
        Cause.USER_CANCEL,
        words("keyboardinterrupt"),
        LIKELY,
        pattern=r"^KeyboardInterrupt\b",
        retry=Retry.NO_RETRY,
    ),
)
