"""What is taken out of an evidence bundle: planted secrets of every shape; and what is left alone."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.server.operations.evidence.scrubbing import Scrubber, is_secret

SECRET = "q7Zt9-planted-Xw2"
PLANTED = [
    f"WANDB_API_KEY={SECRET}",
    f"export AWS_SECRET_ACCESS_KEY='{SECRET}'",
    f'{{"api_key": "{SECRET}", "step": 3}}',
    f"password: {SECRET}",
    f"python train.py --hub-token {SECRET} --steps 10",
    f"python train.py --password={SECRET}",
    f"Authorization: Bearer {SECRET}",
    f"cloning https://ann:{SECRET}@git.example.org/team/repo.git",
    f"redis://:x@host postgresql://app:{SECRET}@db:5432/app",
    f"GET /bucket/data.tar?X-Amz-Credential=abc&X-Amz-Signature={SECRET} 200",
    f"aliyun oss secret_key = {SECRET}",
]
SHAPED = [
    "AKIAIOSFODNN7EXAMPLE",
    "LTAI5tQWERTYUIOPasdfghjk",
    "hf_abcdefghijklmnopqrstuvwxyz012345",
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75\nabc\n-----END RSA PRIVATE KEY-----",
]
HARMLESS = [
    "step 120/5000 loss=2.31 tokens_per_second=41231 token_id: 50256",
    "num_tokens=4096 tokens: 12 tokenizer=bpe tokenizer_config: here",
    "key=value sort_key=loss monkey=3 author: ann",
    "RuntimeError: the size of tensor a (3) must match",
    "https://example.org/path?page=2",
    "rank 0 at 10.0.0.1:29500",
    "use_auth_token=False secret=None",
]


@pytest.mark.parametrize("line", PLANTED)
def test_a_planted_secret_is_taken_out_and_the_rest_stays(line: str) -> None:
    scrubber = Scrubber()
    text = scrubber.text(f"before\n{line}\nafter\n")
    assert SECRET not in text
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert scrubber.removed >= 1


@pytest.mark.parametrize("secret", SHAPED)
def test_what_looks_like_a_secret_is_taken_out_wherever_it_stands(secret: str) -> None:
    text = Scrubber().text(f"loaded with {secret} and on")
    assert secret not in text
    assert text.startswith("loaded with ***")


@pytest.mark.parametrize("line", HARMLESS)
def test_ordinary_lines_are_left_alone(line: str) -> None:
    scrubber = Scrubber()
    assert scrubber.text(line) == line
    assert scrubber.removed == 0


def test_a_known_value_is_taken_out_of_any_text_and_a_short_one_is_not() -> None:
    scrubber = Scrubber([SECRET, "abc"])
    assert scrubber.text(f"x{SECRET}y abc") == "x***y abc"
    assert scrubber.data(SECRET.encode() + b"\xff\x00") == b"***\xff\x00"


def test_whatever_stands_under_a_secret_name_is_taken_out_of_values() -> None:
    spec = {"env": {"HF_TOKEN": SECRET, "MY_AK": SECRET, "SEED": "7"}, "list": [{"password": SECRET}], "n": 3}
    scrubbed = Scrubber().value(spec)
    assert SECRET not in json.dumps(scrubbed)
    assert scrubbed["env"]["SEED"] == "7"
    assert scrubbed["n"] == 3


def test_names_of_secrets_are_known_and_others_are_not() -> None:
    assert all(is_secret(name, "v4lue!") for name in ("HF_TOKEN", "DB_PASSWORD", "OSS_ACCESS_KEY", "SK", "api_key"))
    assert not any(is_secret(name, "v4lue!") for name in ("NUM_TOKENS", "TOKENIZER", "MONKEY", "PATH", "TASK"))
    assert not is_secret("USE_TOKEN", "false")


@given(st.text(max_size=300))
def test_any_text_stays_a_text_and_scrubbing_twice_changes_nothing_more(text: str) -> None:
    once = Scrubber().text(text)
    assert Scrubber().text(once) == once


@pytest.mark.parametrize("line", ["token" * 40_000, "a" * 200_000, "secret:" * 30_000, "://" * 60_000, "-" * 200_000])
def test_hostile_lines_cost_no_more_than_others(line: str) -> None:
    began = time.process_time()
    Scrubber(["known-secret"]).text(line)
    assert time.process_time() - began < 10
