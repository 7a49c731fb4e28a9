"""Signs of device memory that ran out and of kernels that went wrong."""

from headway.diagnosis.cause import Cause
from headway.diagnosis.signs.sign import LIKELY, SURE, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.DEVICE_ASSERT,
        words(
            """
            device-side assert triggered | cudaerrorassert | assertion `srcindex < srcselectdimsize` failed |
            assertion `t >= 0 && t < n_classes` failed | hiperrorassert | embedding index out of range | 设备端断言 |
            index out of range in self
            """
        ),
        SURE,
    ),
    Sign(
        Cause.DEVICE_ASSERT,
        words("assertion `"),
        SURE,
        pattern=r"\.cu:\d{1,6}:.{0,400}?[Bb]lock: ?\[.{0,400}?Assertion `",
    ),
    Sign(
        Cause.CUDA_ILLEGAL_ACCESS,
        words(
            """
            illegal memory access | unspecified launch failure | misaligned address | cudaerrorillegaladdress |
            hiperrorillegaladdress | hiperrorlaunchfailure | musaerrorillegaladdress |
            illegal instruction was encountered | warp illegal | memory access fault by gpu node |
            hsa_status_error_memory_aperture_violation | cublas_status_execution_failed |
            cublas_status_internal_error | cudnn_status_execution_failed | ddr address out of range |
            ub address out of bounds | aicore exception | aivec error | aicore error | vector core exception |
            mte ddr address | cn_invoke_error_address_space | 非法内存访问 | 非法显存访问 | 访存越界 | 显存越界
            """
        ),
        SURE,
    ),
    Sign(
        Cause.DEVICE_OOM,
        words(
            """
            cuda out of memory | npu out of memory | hip out of memory | xpu out of memory | mlu out of memory |
            musa out of memory | gcu out of memory | dcu out of memory | failure 'out of memory' |
            failed to cuda calloc | failed to cuda malloc | failed to cuda host alloc |
            failure: 'out of memory' | cuda error: out of memory | hip error: out of memory | hiperroroutofmemory |
            hsa_status_error_out_of_resources |
            cuda_error_out_of_memory |
            cudaerrormemoryallocation | musa error: out of memory | oom when allocating tensor |
            resource_exhausted: out of memory | el0004 | error code is 207001 | error code is 207018 |
            no available memory for the cache blocks | is less than desired gpu memory utilization |
            cublas_status_alloc_failed | cudnn_status_alloc_failed | rt memory allocation failed |
            malloc device memory failed | device memory not enough | memory not enough | memory isn't enough |
            out of memory on device | out of memory error on gpu | please try to decrease --mem-fraction-static |
            cn_error_no_memory | cnrterrormemalloc | 显存不足 | 显存溢出 | 设备内存不足
            """
        ),
        SURE,
        but=r"more than 1EB",
    ),
    Sign(
        Cause.DEVICE_OOM,
        words("outofmemoryerror"),
        SURE,
        pattern=r"(?:torch|cuda|npu|c10)\w*\.(?:cuda\.)?OutOfMemoryError|^OutOfMemoryError|c10::OutOfMemoryError",
        but=r"more than 1EB|ray\.exceptions|java\.lang",
    ),
    Sign(
        Cause.DEVICE_OOM,
        words("cublas_status_not_initialized"),
        LIKELY,
    ),
)
