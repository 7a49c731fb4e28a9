"""What Headway said of what it saw is kept in English and told in both languages, whenever it was written."""

import re
from string import Formatter

import pytest

from headway.diagnosis.describe import describe
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.errors import PlatformError, codes, message, retold, say, text_of
from headway.domain.ids import AttemptId
from headway.domain.words import in_words

HAN = re.compile(r"[一-鿿]")
SAYINGS = sorted(code.removeprefix("said-") for code in codes("en") if code.startswith("said-"))
SHAPED = {"mount": "/data (1)", "path": "/data/part 1", "line": "7"}


def blanks(saying: str) -> dict[str, str]:
    names = [name for _, name, _, _ in Formatter().parse(text_of(f"said-{saying}", "en")) if name]
    return {name: SHAPED.get(name, f"<{name}, the rest>") for name in names}


@pytest.mark.parametrize("saying", SAYINGS)
def test_a_saying_is_kept_in_english_and_told_in_chinese_with_its_values(saying: str) -> None:
    params = blanks(saying)
    kept = say(saying, **params)
    assert not HAN.search(kept)
    assert retold(kept, "en") == kept
    assert retold(kept, "zh") == message(f"said-{saying}", dict(params), "zh")
    assert HAN.search(retold(kept, "zh"))
    assert all(value in retold(kept, "zh") for value in params.values())


def test_several_sayings_are_told_one_after_another() -> None:
    kept = f"{say('hang-mute')}; {say('hang-waits', call='read', on='/data/part')}"
    assert retold(kept, "zh") == "它没有应答，其他进程有；它在 read 中等待 /data/part"


def test_what_no_saying_made_is_told_as_it_stands() -> None:
    for theirs in ("somebody's own words", "a; b; c", "RuntimeError: the disk is full", "OSError: no; not this"):
        assert retold(theirs, "zh") == theirs


def test_a_programs_own_line_keeps_its_words_beside_what_headway_saw() -> None:
    kept = f"OSError: write error; at once; {say('mount-full', mount='/ckpt')}"
    assert retold(kept, "zh") == "OSError: write error; at once；/ckpt 已满"


def test_the_verdict_on_a_hang_says_in_both_languages_what_was_seen() -> None:
    seen = f"{say('hang-stopped')}; {say('hang-loading')}"
    stalled = Verdict(AttemptId("j-1.1"), Fault.STALLED, Owner.RESEARCHER, True, 0.9, detail=seen)
    assert "its process is stopped by a signal (state T); it is in its data loader" in describe(stalled, "en")
    assert "它的进程被信号暂停（状态 T）；它在数据加载中" in describe(stalled, "zh")


def test_a_launch_that_an_engine_refused_is_told_in_chinese_in_its_verdict_and_in_its_fact() -> None:
    why = say("no-such-node-of", node="n9", nodes="n0, n1")
    failed = Verdict(AttemptId("j-1.1"), Fault.LAUNCH_FAILED, Owner.OPERATOR, True, 0.9, detail=why)
    assert "没有节点 n9，现有 n0, n1" in describe(failed, "zh")
    assert in_words({"reason": why}, "zh") == {"reason": "没有节点 n9，现有 n0, n1"}
    refused = PlatformError("launch-refused", engine="local", attempt="j-1.1", detail=why)
    assert refused.text("zh") == "引擎 local 无法运行 j-1.1：没有节点 n9，现有 n0, n1"


def test_a_checkpoint_that_its_program_thinned_out_says_so_in_chinese() -> None:
    assert in_words({"reason": "thinned by the program"}, "zh") == {"reason": "由程序自行清理"}
