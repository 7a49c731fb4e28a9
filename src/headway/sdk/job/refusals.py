"""What a save says when a disk does not take it: what happened, where, and what to do, in the user's language.

An error stays what it was, an OSError with its number; only its words change.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Dict, Tuple

_SAID: Dict[int, Tuple[str, str]] = {
    errno.ENOSPC: (
        "there is no space left in {directory} ({free} free): free some, keep fewer checkpoints, or give another one",
        "{directory} 空间不足（剩余 {free}）：请清理空间、减少保留的检查点，或换一个目录",
    ),
    errno.EDQUOT: (
        "the quota of {directory} is used up: free some of it, keep fewer checkpoints, or ask for more",
        "{directory} 的配额已用完：请清理、减少保留的检查点，或申请更多配额",
    ),
    errno.EROFS: (
        "{directory} is mounted read-only: after a fault of the storage mount it anew, or give another directory",
        "{directory} 以只读方式挂载：存储出错后请重新挂载，或换一个目录",
    ),
    errno.EACCES: (
        "user {user} may not write in {directory}: let its owner allow it, or give another directory",
        "用户 {user} 无权写入 {directory}：请目录所有者授权，或换一个目录",
    ),
    errno.EIO: (
        "the storage under {directory} fails to write: look at the mount and the machine's kernel log",
        "{directory} 所在存储写入出错：请检查挂载和内核日志",
    ),
}
_SAID[errno.EPERM] = _SAID[errno.EACCES]
_SAID[errno.ESTALE] = _SAID[errno.EIO]
_UNTOUCHED = ("earlier checkpoints are untouched", "之前的检查点未受影响")
_NOT_SAVED = ("not saved", "未保存")


def in_words(error: OSError, directory: Path) -> OSError:
    """The same error with words that help; itself where there are none for it."""
    said = _SAID.get(error.errno or 0)
    if said is None or error.strerror != os.strerror(error.errno or 0):
        return error  # whoever raised it has said it
    chinese = _is_chinese()
    words = said[chinese].format(directory=directory, free=_free(directory), user=os.geteuid())
    parts = (_NOT_SAVED[chinese], ": ", words, "; ", _UNTOUCHED[chinese])
    return OSError(error.errno, "".join(parts) + f" [{os.strerror(error.errno or 0)}]")


def _is_chinese() -> bool:
    """As the command line decides: HEADWAY_LANG, else LC_ALL, LC_MESSAGES or LANG, the first that is set."""
    names = ("HEADWAY_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "").lower().startswith("zh")


def _free(directory: Path) -> str:
    try:
        free = shutil.disk_usage(next(path for path in (directory, *directory.parents) if path.exists())).free
    except OSError:
        return "?"
    return f"{free / 2**20:.1f} MiB"
