"""Signs are data: linear, in lower case, and honest about what they were founded on."""

from headway.diagnosis.cause import Cause, usual_owner, usual_retry
from headway.diagnosis.signs.sign import Kind
from headway.diagnosis.signs.table import ALL, JUDGEMENTS, Table
from headway.diagnosis.verdict import Owner

UNTOLD = {Cause.NONE, Cause.HANG_UNKNOWN}
"""Causes that no words tell: nothing happened, or nothing says why."""


def test_every_word_is_written_as_it_is_looked_for() -> None:
    assert [word for sign in ALL for word in sign.words if word != word.lower() or not word.strip()] == []


def test_every_cause_has_a_sign_of_its_own() -> None:
    told = {sign.cause for sign in ALL if sign.kind is Kind.FAULT}
    assert set(Cause) - told - UNTOLD - {Cause.LONG_OP_TIMEOUT} == set()


def test_no_pattern_repeats_without_a_bound_what_repeats_within_it() -> None:
    patterns = [pattern for sign in ALL for pattern in (sign.pattern, sign.but) if pattern]
    assert [pattern for pattern in patterns if ".*" in pattern or ".+" in pattern] == []


def test_what_was_founded_only_on_left_out_cases_is_switched_off() -> None:
    founded = next(sign for sign in ALL if sign.cases)
    line = founded.words[0]
    with_it, without = Table(), Table(founded.cases)
    assert founded in {match.sign for match in with_it.matches(line, line)} or founded.pattern
    assert founded not in {match.sign for match in without.matches(line, line)}
    name, cases = next(iter(JUDGEMENTS.items()))
    assert with_it.uses(name)
    assert not Table(cases).uses(name)


def test_every_cause_has_an_owner_and_an_advice() -> None:
    assert usual_owner(Cause.NONE) is Owner.NOBODY
    assert {usual_owner(cause) for cause in Cause if cause is not Cause.NONE} == {Owner.RESEARCHER, Owner.OPERATOR}
    assert len({usual_retry(cause) for cause in Cause}) == 5


def test_words_of_two_letters_are_chinese_so_they_are_looked_for_only_in_such_lines() -> None:
    assert [word for sign in ALL for word in sign.words if len(word) < 3 and word.isascii()] == []
