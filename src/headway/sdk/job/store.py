"""Where finished checkpoints are copied to: an object store that speaks S3, or a folder that stands for one.

An object is there whole or not at all. Nothing here knows what a checkpoint is. `s3://bucket/prefix` needs boto3 in the
program's own Python, which is imported only then; credentials and the address of the server (`AWS_ENDPOINT_URL`) are
found as boto3 finds them.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Iterator, List, Optional

from headway.sdk.job.disk import Disk
from headway.sdk.job.hashing import BLOCK
from headway.sdk.job.storage import storage_of

S3 = "s3://"
FILE = "file://"
MISSING = "store='s3://…' needs boto3 in this program's Python: pip install boto3"


class Folder:
    """Objects as files below a folder, for a bucket that is mounted and for tests."""

    def __init__(self, root: Path, disk: Optional[Disk] = None) -> None:
        self._root = root
        self._disk = disk or Disk()
        self.storage = storage_of(root) or "folder"
        self.url = str(root)

    def keys(self, under: str) -> List[str]:
        """The objects whose key begins with `under` and a slash."""
        found = []
        for folder, _, names in os.walk(self._root / under):
            found += [Path(folder, name).relative_to(self._root).as_posix() for name in names if name[0] != "."]
        return sorted(found)

    def put(self, key: str, path: Path) -> None:
        """Copy a file to an object: durable once this returns."""
        target = self._root / key
        self._make(target.parent)
        building = target.with_name(f".tmp-{target.name}")
        with suppress(FileNotFoundError):
            self._disk.remove_file(building)
        self._disk.create(building, _blocks(path))
        self._disk.rename(building, target)
        self._disk.sync_folder(target.parent)

    def get(self, key: str, path: Path) -> None:
        """Copy an object to a new file."""
        self._disk.create(path, _blocks(self._root / key))

    def read(self, key: str) -> bytes:
        """A small object. Raises FileNotFoundError."""
        return (self._root / key).read_bytes()

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make(folder.parent)
            with suppress(FileExistsError):
                self._disk.make_folder(folder)
            self._disk.sync_folder(folder.parent)


class Bucket:
    """Objects of an S3 bucket below a prefix. Every failure of the library is an OSError with its words."""

    storage = "s3"

    def __init__(self, url: str, disk: Optional[Disk] = None) -> None:
        self._bucket, _, prefix = url[len(S3) :].partition("/")
        self._prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        self._disk = disk or Disk()
        self._client, self._failures = _client()
        self.url = url.rstrip("/")

    def keys(self, under: str) -> List[str]:
        """As `Folder.keys`."""
        pages = self._client.get_paginator("list_objects_v2")
        with self._in_words("list"):
            listed = [
                entry["Key"][len(self._prefix) :]
                for page in pages.paginate(Bucket=self._bucket, Prefix=f"{self._prefix}{under}/")
                for entry in page.get("Contents", ())
            ]
        return sorted(listed)

    def put(self, key: str, path: Path) -> None:
        """As `Folder.put`; S3 shows an object only once all of it has come, in however many pieces."""
        with self._in_words(key):
            self._client.upload_file(str(path), self._bucket, self._prefix + key)

    def get(self, key: str, path: Path) -> None:
        """As `Folder.get`."""
        with self._in_words(key):
            self._client.download_file(self._bucket, self._prefix + key, str(path))
        self._disk.sync_file(path)

    def read(self, key: str) -> bytes:
        """As `Folder.read`."""
        with self._in_words(key):
            content: bytes = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
        return content

    def _in_words(self, key: str) -> "_InWords":
        return _InWords(self._failures, f"{self.url}: {key}")


class _InWords:
    def __init__(self, failures: Any, what: str) -> None:
        self._failures = failures
        self._what = what

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: Any, error: Any, _trace: Any) -> None:
        if isinstance(error, self._failures):
            raise OSError(errno.EIO, f"{self._what}: {error}") from error


def open_store(url: str, disk: Optional[Disk] = None) -> Any:
    """The store behind `s3://bucket/prefix`, `file:///folder` or an absolute folder.

    Raises ValueError for another address, ImportError with what to install where boto3 is missing.
    """
    if _is_bucket(url):
        return Bucket(url, disk)
    path = url[len(FILE) :] if url.startswith(FILE) else url
    if not path.startswith("/"):
        raise ValueError(f"store={url!r}: s3://bucket/prefix, file:///folder or an absolute folder")
    return Folder(Path(path), disk)


def check_store(url: str) -> None:
    """Raise what `open_store` would, without importing or asking anything."""
    if not _is_bucket(url):
        open_store(url)
    elif find_spec("boto3") is None:
        raise ImportError(MISSING)


def _is_bucket(url: str) -> bool:
    return url.startswith(S3) and bool(url[len(S3) :].partition("/")[0].strip())


def _client() -> Any:
    try:
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        raise ImportError(MISSING) from None
    return boto3.client("s3"), (Boto3Error, BotoCoreError, ClientError)


def _blocks(path: Path) -> Iterator[bytes]:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            yield block
