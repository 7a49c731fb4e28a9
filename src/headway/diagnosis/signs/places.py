"""What code does in which an exception was raised: for tracebacks whose exception was lost. Words go before it."""

import re

from headway.diagnosis.cause import Cause

PLACES: tuple[tuple[re.Pattern[str], Cause], ...] = tuple(
    (re.compile(pattern), cause)
    for pattern, cause in (
        (r"torch[\\/]distributed[\\/]rendezvous", Cause.COMM_BOOTSTRAP),
        (r"assert_ints_same_as_other_ranks|_verify_params?_across|_verify_model_across", Cause.COLLECTIVE_DESYNC),
        (r"torch[\\/](?:cuda|npu)[\\/]__init__\.py|_cuda_init|_lazy_init\b", Cause.DRIVER_MISMATCH),
        (r"multiprocessing[\\/](?:reductions?|resource_sharer)\.py", Cause.OS_LIMIT),
        (
            r"PIL[\\/]Image|json[\\/]decoder\.py|pyarrow[\\/]|decord[\\/]|torchvision[\\/]io|pandas[\\/]io|tarfile\.py",
            Cause.DATA_BAD_SAMPLE,
        ),
        (r"load_state_dict\b", Cause.CKPT_MISMATCH),
        (r"torch[\\/]serialization\.py.{0,40} in _?load|safe_open\(|zipfile\.py", Cause.CKPT_CORRUPT),
        (r"torch[\\/]serialization\.py.{0,40} in (?:_?save|__exit__)", Cause.DISK_FULL),
        (r"huggingface_hub[\\/]|urllib3[\\/]|botocore[\\/]|requests[\\/]|fsspec[\\/].{0,40}http", Cause.REMOTE_DATA),
        (r"importlib[\\/._]|\bimport_module\(", Cause.DEP_IMPORT),
        (r"argparse\.py|hf_argparser\.py|hydra[\\/]", Cause.CONFIG_LAUNCH),
    )
)
INNERMOST = 3
"""Lines of a traceback from its end that tell."""


def cause_of_place(lines: list[str]) -> Cause | None:
    """The cause that an exception usually has where these lines, the innermost last, end; None where any may be."""
    said = "\n".join(lines[-INNERMOST:])
    return next((cause for pattern, cause in PLACES if pattern.search(said)), None)
