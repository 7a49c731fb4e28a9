"""A path is called seen or unseen only where a node told enough, and what is not known is said so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.carrying import Carried
from headway.domain.errors import LANGUAGES, PlatformError, message
from headway.domain.seeing import Lies, Mount, Pool, View, holding, see

DISK, NFS = Mount("/", "ext4", "/dev/sda1"), Mount("/data", "nfs4", "store:/data")
PATH = "/data/run/step-00000040"
ON_NFS, ON_DISK = Lies(PATH, PATH, "boot-0", NFS), Lies(PATH, PATH, "boot-0", DISK)
SEEN, UNSEEN = View("n1", "boot-1", (DISK, NFS)), View("n2", "boot-2", (DISK,))
mounts = st.sampled_from([DISK, NFS, Mount("/data", "lustre", "mds:/x"), Mount("/data", "tmpfs", "tmpfs")])
views = st.builds(
    View, st.sampled_from(["n1", "n2", "n3"]), st.sampled_from([None, "boot-0", "boot-1"]), st.lists(mounts).map(tuple)
)
lies = st.builds(Lies, st.just(PATH), st.just(PATH), st.sampled_from([None, "boot-0"]), st.none() | mounts)


@pytest.mark.parametrize(
    ("where", "pool", "carried", "code"),
    [
        (ON_NFS, Pool("p", (SEEN,)), Carried.YES, "carry-path-seen"),
        (ON_NFS, Pool("p", (UNSEEN,)), Carried.NO, "carry-path-unseen"),
        (ON_NFS, Pool("p", (SEEN, UNSEEN)), Carried.UNSURE, "carry-path-some"),
        (ON_DISK, Pool("p", (UNSEEN,)), Carried.NO, "carry-path-unseen"),
        (ON_DISK, Pool("p", (View("n1", "boot-0", (DISK,)),)), Carried.YES, "carry-path-seen"),
        (ON_DISK, Pool("p", (View("n1", shares=("/data",)),)), Carried.YES, "carry-path-share"),
        (ON_DISK, Pool("p", (View("n1", shares=("/dat",)),)), Carried.UNSURE, "carry-path-other"),
        (ON_DISK, Pool("p", (View("n1", "boot-1", (DISK, NFS)),)), Carried.UNSURE, "carry-path-other"),
        (ON_DISK, Pool("p", (View("n1", None, (DISK,)),)), Carried.UNSURE, "carry-path-other"),
        (ON_NFS, Pool("p", stays=True), Carried.YES, "carry-path-same"),
        (ON_NFS, Pool("p"), Carried.UNSURE, "carry-path-other"),
    ],
)
def test_the_mounts_decide(where: Lies, pool: Pool, carried: Carried, code: str) -> None:
    told = see(where, pool)
    assert (told.what, told.carried, told.code) == ("path", carried, code)


def test_the_way_out_names_the_path_the_pool_and_where_it_could_be_copied() -> None:
    shared = Mount("/scratch", "lustre", "mds:/scratch")
    told = see(ON_NFS, Pool("slurm/h200", (View("n2", "boot-2", (DISK, shared)),)))
    refused = PlatformError("path-unseen", **told.params)
    for language in LANGUAGES:
        words = refused.text(language) + refused.hint(language)
        for named in (PATH, "slurm/h200", "n2", "nfs4 store:/data", "ext4 /dev/sda1", "/scratch", "--from"):
            assert named in words


@given(lies, st.lists(views, max_size=4).map(tuple), st.booleans())
def test_it_is_refused_only_where_every_node_that_told_has_something_else_there(
    where: Lies, known: tuple[View, ...], stays: bool
) -> None:
    told = see(where, Pool("p", known, stays))
    for language in LANGUAGES:
        assert told.code not in message(told.code, told.params, language)
    if told.carried is Carried.NO:
        assert where.mount is not None
        assert all(holding(where.real, view.mounts) != where.mount or view.boot != where.boot for view in known)
    if told.code == "carry-path-seen":
        assert any(where.mount in view.mounts for view in known)
