"""What was seen of a hang is told in both languages, whenever it was written."""

import re

import pytest

from headway.diagnosis.describe import describe
from headway.diagnosis.hang.words import BLANKS, say, told
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.errors import codes, message
from headway.domain.ids import AttemptId

HAN = re.compile(r"[一-鿿]")
VALUES = ("/data/part (1).bin, the rest", "0x7f", "7", "all_reduce|broadcast")


@pytest.mark.parametrize("saying", sorted(BLANKS))
def test_a_saying_is_kept_in_english_and_told_in_chinese_with_its_values(saying: str) -> None:
    params = dict(zip(BLANKS[saying], VALUES, strict=False))
    kept = say(saying, **params)
    assert not HAN.search(kept)
    assert told(kept, "en") == kept
    assert told(kept, "zh") == message(f"hang-{saying}", dict(params), "zh")
    assert HAN.search(told(kept, "zh"))
    assert all(value in told(kept, "zh") for value in params.values())


def test_every_saying_of_the_table_is_known() -> None:
    assert {f"hang-{saying}" for saying in BLANKS} == {code for code in codes("en") if code.startswith("hang-")}


def test_several_sayings_are_told_one_after_another() -> None:
    kept = f"{say('mute')}; {say('waits', call='read', on='/data/part')}"
    assert told(kept, "zh") == "它没有应答，其他进程有；它在 read 中等待 /data/part"


def test_what_no_saying_made_is_told_as_it_stands() -> None:
    assert told("somebody's own words", "zh") == "somebody's own words"


def test_the_verdict_on_a_hang_says_in_both_languages_what_was_seen() -> None:
    seen = f"{say('stopped')}; {say('loading')}"
    stalled = Verdict(AttemptId("j-1.1"), Fault.STALLED, Owner.RESEARCHER, True, 0.9, detail=seen)
    assert "its process is stopped by a signal (state T); it is in its data loader" in describe(stalled, "en")
    assert "它的进程被信号暂停（状态 T）；它在数据加载中" in describe(stalled, "zh")
