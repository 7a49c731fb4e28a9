"""What a move carries over is said of everything, once, and never too much is promised."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.carrying import Carried, Form, Saved, Site, carry
from headway.domain.errors import LANGUAGES, message
from headway.domain.resources import Maker

sites = st.builds(
    Site,
    st.integers(1, 64),
    st.sampled_from(["local", "slurm"]),
    st.sampled_from(["h200", "a100", "910B"]),
    st.just(""),
).map(lambda site: Site(site.world, site.engine, site.device_type, maker_of(site.device_type)))
WRITERS = ("headway", "trainer", "accelerate", "lightning", "megatron", "deepspeed", "dcp", "plain")
own = st.builds(Saved, st.integers(1, 1000), st.integers(1, 64), st.sampled_from([Form.WHOLE, Form.PARTS]))
saved = st.builds(
    Saved,
    st.integers(1, 1000),
    st.integers(1, 64),
    st.sampled_from(Form),
    st.integers(1, 8),
    st.sampled_from(WRITERS),
)


def maker_of(device_type: str) -> Maker:
    return Maker.ASCEND if device_type.startswith("9") else Maker.NVIDIA


@given(saved, sites, sites)
def test_everything_is_said_once_and_in_both_languages(state: Saved, before: Site, after: Site) -> None:
    told = carry(state, before, after)
    assert sorted(each.what for each in told) == ["cards", "data", "random", "world"]
    for each in told:
        for language in LANGUAGES:
            said = message(each.code, each.params, language)
            assert "—" not in said
            assert each.code not in said


@given(own, sites)
def test_where_nothing_changes_everything_is_carried_over(state: Saved, site: Site) -> None:
    same = Site(state.world, site.engine, site.device_type, site.maker)
    assert {each.carried for each in carry(state, same, same)} == {Carried.YES}


def test_parts_for_each_rank_are_not_promised_to_another_number_of_ranks() -> None:
    site, wider = Site(2, "local", "h200", Maker.NVIDIA), Site(4, "local", "h200", Maker.NVIDIA)
    parts = {each.what: each.carried for each in carry(Saved(10, 2, Form.PARTS), site, wider)}
    whole = {each.what: each.carried for each in carry(Saved(10, 2, Form.WHOLE), site, wider)}
    assert (parts["world"], whole["world"]) == (Carried.UNSURE, Carried.YES)
    assert parts["random"] == whole["random"] == Carried.NO
    assert parts["data"] == whole["data"] == Carried.UNSURE


def test_another_maker_is_pointed_out() -> None:
    before, after = Site(2, "local", "h200", Maker.NVIDIA), Site(2, "slurm", "910B", Maker.ASCEND)
    told = {each.what: (each.carried, each.code) for each in carry(Saved(10, 2, Form.WHOLE), before, after)}
    assert told["cards"] == (Carried.UNSURE, "carry-cards-maker")


@pytest.mark.parametrize(
    ("state", "world", "carried", "code"),
    [
        (Saved(10, 8, Form.GRID, 4, "megatron"), 16, Carried.YES, "carry-world-grid"),
        (Saved(10, 8, Form.GRID, 4, "megatron"), 6, Carried.NO, "carry-world-grid-not"),
        (Saved(10, 8, Form.GRID, 4, "megatron"), 2, Carried.NO, "carry-world-grid-not"),
        (Saved(10, 8, Form.RESHARDED, 1, "megatron"), 6, Carried.YES, "carry-world-resharded"),
        (Saved(10, 8, Form.ZERO, 1, "deepspeed"), 16, Carried.NO, "carry-world-zero"),
        (Saved(10, 8, Form.ZERO, 1, "deepspeed"), 8, Carried.YES, "carry-world-same"),
        (Saved(10, 8, Form.RESHARDED, 1, "dcp"), 3, Carried.YES, "carry-world-resharded"),
        (Saved(10, 8, Form.WHOLE, 1, "trainer"), 3, Carried.YES, "carry-world-whole"),
        (Saved(10, 8, Form.FILE, 1, "plain"), 3, Carried.UNSURE, "carry-world-file"),
    ],
)
def test_each_frameworks_layout_says_which_number_of_ranks_it_allows(
    state: Saved, world: int, carried: Carried, code: str
) -> None:
    site = Site(8, "local", "h200", Maker.NVIDIA)
    told = {each.what: (each.carried, each.code) for each in carry(state, site, replace(site, world=world))}
    assert told["world"] == (carried, code)


def test_what_only_the_program_knows_is_not_promised() -> None:
    site = Site(2, "local", "h200", Maker.NVIDIA)
    for writer in ("lightning", "deepspeed", "dcp", "plain"):
        told = {each.what: each.carried for each in carry(Saved(10, 2, Form.WHOLE, 1, writer), site, site)}
        assert (told["data"], told["random"]) == (Carried.UNSURE, Carried.UNSURE)
