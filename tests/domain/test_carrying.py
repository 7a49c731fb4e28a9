"""What a move carries over is said of everything, once, and never too much is promised."""

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.carrying import Carried, Saved, Site, carry
from headway.domain.errors import LANGUAGES, message
from headway.domain.resources import Maker

sites = st.builds(
    Site,
    st.integers(1, 64),
    st.sampled_from(["local", "slurm"]),
    st.sampled_from(["h200", "a100", "910B"]),
    st.just(""),
).map(lambda site: Site(site.world, site.engine, site.device_type, maker_of(site.device_type)))
saved = st.builds(Saved, st.integers(1, 1000), st.integers(1, 64), st.booleans())


def maker_of(device_type: str) -> Maker:
    return Maker.ASCEND if device_type.startswith("9") else Maker.NVIDIA


@given(saved, sites, sites)
def test_everything_is_said_once_and_in_both_languages(state: Saved, before: Site, after: Site) -> None:
    told = carry(state, before, after)
    assert sorted(each.what for each in told) == ["cards", "data", "path", "random", "world"]
    for each in told:
        for language in LANGUAGES:
            assert "—" not in message(each.code, each.params, language)


@given(saved, sites)
def test_where_nothing_changes_everything_is_carried_over(state: Saved, site: Site) -> None:
    same = Site(state.world, site.engine, site.device_type, site.maker)
    assert {each.carried for each in carry(state, same, same)} == {Carried.YES}


def test_parts_for_each_rank_are_not_promised_to_another_number_of_ranks() -> None:
    site, wider = Site(2, "local", "h200", Maker.NVIDIA), Site(4, "local", "h200", Maker.NVIDIA)
    parts = {each.what: each.carried for each in carry(Saved(10, 2, whole=False), site, wider)}
    whole = {each.what: each.carried for each in carry(Saved(10, 2, whole=True), site, wider)}
    assert (parts["world"], whole["world"]) == (Carried.UNSURE, Carried.YES)
    assert parts["random"] == whole["random"] == Carried.NO
    assert parts["data"] == whole["data"] == Carried.UNSURE


def test_another_maker_and_another_engine_are_pointed_out() -> None:
    before, after = Site(2, "local", "h200", Maker.NVIDIA), Site(2, "slurm", "910B", Maker.ASCEND)
    told = {each.what: (each.carried, each.code) for each in carry(Saved(10, 2, whole=True), before, after)}
    assert told["cards"] == (Carried.UNSURE, "carry-cards-maker")
    assert told["path"] == (Carried.UNSURE, "carry-path-other")
