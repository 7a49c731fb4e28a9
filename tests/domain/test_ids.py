"""Identifiers and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.domain.ids import ALPHABET, ID_LENGTH, JobId, attempt_id, check_name, new_id


@given(st.binary(min_size=8, max_size=16))
def test_an_id_is_a_prefix_and_eight_letters_that_cannot_be_mistaken(random: bytes) -> None:
    made = new_id("j", random)
    assert made.startswith("j-")
    assert len(made) == 2 + ID_LENGTH
    assert set(made[2:]) <= set(ALPHABET)
    assert not set(ALPHABET) & set("01iloO")
    assert check_name("id", made) == made


def test_attempts_of_one_job_differ() -> None:
    assert len({attempt_id(JobId("j-1"), number) for number in range(1, 100)}) == 99


@pytest.mark.parametrize("name", ["a", "A1", "my-run_2.5", "x" * 63])
def test_a_legal_name_is_returned(name: str) -> None:
    assert check_name("name", name) == name


@pytest.mark.parametrize(
    "name", ["", " ", "my run", "../etc", "a..b", "-a", "a-", ".a", "a/b", "a\n", "作业", "x" * 64, "x" * 10_000]
)
def test_an_illegal_name_is_refused_naming_field_and_value(name: str) -> None:
    with pytest.raises(PlatformError) as refused:
        check_name("spec.name", name)
    assert refused.value.code == "invalid-name"
    assert refused.value.params == {"field": "spec.name", "value": name[:80]}
