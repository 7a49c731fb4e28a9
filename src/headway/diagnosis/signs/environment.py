"""Signs of drivers, libraries and packages that do not fit."""

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.signs.sign import LIKELY, PARTICULAR, SURE, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.DRIVER_MISMATCH,
        words("failed to obtain the soc version | dcmi module initialize failed"),
        LIKELY,
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words(
            """
            driver/library version mismatch | api mismatch: the client has the version |
            cuda driver version is insufficient | is too old (found version | nvidia driver on your system is too old |
            found no nvidia driver | forward compatibility was attempted | error 804 | driver version mismatch |
            firmware version mismatch | incompatible driver | driver version is not compatible |
            does not match the driver | cuda version mismatch | unsupported toolchain | 固件版本不匹配 | 版本不配套 |
            版本不匹配 | not compatible with cann | mismatched driver | hsa_status_error_incompatible |
            driver package is not installed | mismatched nccl version
            """
        ),
        SURE,
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words(
            """
            fabric manager version | driver version | version of cann | kernel module version | 驱动版本 | 固件版本 |
            cann版本 | cann 版本
            """
        ),
        PARTICULAR,
        pattern=(
            r"(?i)mismatch|incompatib|(?:does|do|is|are) not (?:match|compat|support)|differs|too (?:old|low)|"
            r"不|低于|过低"
        ),
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words(
            """
            error 803 | unsupported display driver | no kernel image is available |
            hiperrornobinaryforgpu | invalid device function | kernel binary is not found | no kernel binary |
            unsupported gpu architecture | is not compatible with the current pytorch installation |
            opp package is not installed | cannot find the kernel | 算子二进制
            """
        ),
        SURE,
        retry=Retry.NO_RETRY,
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words("libopapi.so"),
        SURE,
        pattern=r"not in libopapi\.so|libopapi\.so not found",
        retry=Retry.NO_RETRY,
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words("binary | binaries"),
        SURE,
        pattern=r"(?i)\bop(?:erator|type)?\b.{0,80}\b(?:not|no|without)\b.{0,20}\bbinar(?:y|ies)\b",
        retry=Retry.NO_RETRY,
    ),
    Sign(
        Cause.DEP_IMPORT,
        words("fatal error: | command not found"),
        PARTICULAR + 2,
        pattern=(
            r"fatal error: [\w./-]{1,120}\.(?:h|hpp|cuh): No such file|"
            r"(?:gcc|g\+\+|nvcc|ninja|cmake): command not found"
        ),
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words(
            """
            nvidia-container-cli: initialization error | nvidia-container-cli: requirement error |
            nvidia-container-cli: detection error
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.DEP_IMPORT,
        words(
            """
            modulenotfounderror | no module named | importerror | undefined symbol | cannot import name |
            cannot open shared object file | glibc_ | glibcxx_ | cxxabi_ | packagenotfounderror |
            distributionnotfound | versionconflict | numpy.dtype size changed | compiled using numpy 1.x |
            not compiled with cuda enabled | cuda_home environment variable is not set | error building extension |
            ninja is required |
            binary incompatibility | is required but not installed | requires the following packages |
            not compiled with cuda support | dll load failed | 缺少依赖 | 未安装
            """
        ),
        PARTICULAR,
        pattern=(
            r"(?i)ModuleNotFoundError|No module named|ImportError|undefined symbol|cannot import name|shared object|"
            r"(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+['\"]? not found|PackageNotFound|DistributionNotFound|VersionConflict|"
            r"dtype size changed|NumPy 1\.x|not compiled with CUDA|CUDA_HOME|Ninja is required|"
            r"Error building extension|binary incompatib|"
            r"required but not|requires the following|DLL load|缺少依赖|未安装"
        ),
        but=r"(?i)\bwarn|optional|falling back|skipping|will not be used|libcuda\.so|continuing without",
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words("libcuda.so | libnvidia-ml.so | libascend_hal.so | libdcmi.so | libcndrv.so"),
        LIKELY,
        pattern=r"(?i)cannot open|not found",
    ),
    Sign(
        Cause.DRIVER_MISMATCH,
        words("does not has any binary | parse dynamic kernel config fail | errno:561000 | aclopkernelinit failed"),
        SURE,
        cases=("018",),
        retry=Retry.NO_RETRY,
    ),
)
