"""Signs of samples and checkpoints that are damaged or do not fit, and of loaders that were forked too late."""

from headway.diagnosis.cause import Cause
from headway.diagnosis.signs.sign import LIKELY, PARTICULAR, VAGUE, Kind, Sign, words

SIGNS: tuple[Sign, ...] = (
    Sign(
        Cause.DATA_BAD_SAMPLE,
        words(
            """
            image file is truncated | cannot identify image file | unidentifiedimageerror | unicodedecodeerror |
            jsondecodeerror | arrowinvalid | datasetgenerationerror | datasetgenerationcasterror |
            error tokenizing data | broken data stream when reading image | broken png file | tarfile.readerror |
            tarfile.truncatedheadererror | decorderror | invaliddataerror | moov atom not found |
            invalid data found when processing input | corrupted record | corrupted sample | corrupt sample |
            bad sample | couldn't cast array of type | failed to decode image | corrupt jpeg data: premature |
            zlib.error | error -3 while decompressing | schema at index | invalid parquet |
            parquet magic bytes not found | not a parquet file | 样本损坏 | 数据损坏 | 数据格式错误 | 图片损坏
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.CKPT_MISMATCH,
        words(
            """
            error(s) in loading state_dict | size mismatch for | missing key(s) in state_dict |
            unexpected key(s) in state_dict | missing key in checkpoint state_dict |
            loaded state dict contains a parameter group that doesn't match |
            loaded state dict has a different number of parameter groups | global shape mismatch for loaded |
            is not equal to the input argument value | checkpoint being loaded used a dp world size |
            used a dp world size of | used a mp world size | the checkpoint was saved with a different |
            checkpoint was saved with | does not match the checkpoint | do not match checkpoint |
            checkpoint does not match | shape in checkpoint | shape mismatch in checkpoint | checkpoint shape |
            mismatched shapes when loading | checkpoint shard number mismatch | incompatible checkpoint |
            you are trying to load a checkpoint with | not match with the shape of parameter |
            与检查点不匹配 | 检查点不匹配 | 权重形状不匹配
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.CKPT_CORRUPT,
        words(
            """
            failed finding central directory | pytorchstreamreader failed | the file might be corrupted |
            error while deserializing header | metadataincompletebuffer | headertoolarge |
            invalidheaderdeserialization | incomplete metadata, file not fully covered | pickle data was truncated |
            ran out of input | invalid load key | unpicklingerror | file is not a zip file | badzipfile |
            invalid magic number; corrupt file | storage has wrong byte size | checkpoint is corrupt |
            corrupted checkpoint | corrupt checkpoint | checkpoint file is corrupted | checkpoint is incomplete |
            incomplete checkpoint | crc check failed | checksum mismatch | hash mismatch | sha256 mismatch |
            consistency check failed: file should be of size | not a valid checkpoint | may be corrupted | 检查点损坏 |
            权重文件损坏 | 检查点不完整 | 校验和不一致
            """
        ),
        PARTICULAR,
    ),
    Sign(
        Cause.CKPT_CORRUPT,
        words("safetensorerror"),
        LIKELY,
        but=r"[Nn]o space|o such file|I/O error|os error",
    ),
    Sign(
        Cause.DATA_STALL,
        words("already been used. disabling parallelism | got forked, after parallelism | forked after"),
        VAGUE,
        kind=Kind.HINT,
    ),
)
