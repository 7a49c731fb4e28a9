"""Storages beside each other: by rates, and by what people choose between."""

import pytest

from headway.registry.storages import Storage, StorageKind, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("lustre", StorageKind.PARALLEL),
        ("fuse.s3fs", StorageKind.OBJECT),
        ("nfs4", StorageKind.NETWORK),
        ("tmpfs", StorageKind.MEMORY),
        ("overlay", StorageKind.LOCAL),
        ("fuse.something", StorageKind.OTHER),
    ],
)
def test_a_file_system_type_is_what_people_choose_between(name: str, kind: StorageKind) -> None:
    assert kind_of(name) is kind


def test_rates_are_of_all_bytes_and_all_seconds() -> None:
    measured = Storage("nfs4", saves=2, bytes=300, seconds=3.0, restores=1, restored_bytes=100, restored_seconds=0.5)
    assert (measured.write_rate, measured.restore_rate) == (100.0, 200.0)


def test_a_storage_that_nothing_was_restored_from_has_no_rate_of_reading() -> None:
    assert Storage("nfs4", saves=1, bytes=1, seconds=1.0).restore_rate is None
