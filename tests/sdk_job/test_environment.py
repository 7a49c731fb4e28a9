"""The environment contract as a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.sdk.job.environment import read_environment

CONTRACT = {
    "HEADWAY_JOB": "j-1",
    "HEADWAY_ATTEMPT": "j-1.2",
    "HEADWAY_ATTEMPT_NUMBER": "2",
    "HEADWAY_RANK_DIR": "/run/j-1.2/n1/rank-3",
    "HEADWAY_CHECKPOINT_DIR": "/ckpt/j-1",
    "HEADWAY_RESUME_FROM": "/ckpt/j-1/step-00000040",
    "HEADWAY_PORT": "40123",
    "RANK": "3",
    "WORLD_SIZE": "4",
}


def test_every_variable_of_the_contract_is_read() -> None:
    found = read_environment(CONTRACT)
    assert (found.job, found.attempt, found.attempt_number) == ("j-1", "j-1.2", 2)
    assert (found.rank, found.world_size, found.port) == (3, 4, 40123)
    assert found.checkpoint_dir == Path("/ckpt/j-1")
    assert found.resume_from == Path("/ckpt/j-1/step-00000040")
    assert not found.is_offline


def test_a_rank_with_its_own_folder_writes_events_jsonl() -> None:
    assert read_environment(CONTRACT).events_name == "events.jsonl"


def test_ranks_under_torchrun_share_a_folder_and_write_a_file_each() -> None:
    assert read_environment({**CONTRACT, "TORCHELASTIC_RUN_ID": "none"}).events_name == "events-3.jsonl"
    assert read_environment({**CONTRACT, "RANK": "2"}).events_name == "events-2.jsonl"


def test_without_a_platform_everything_has_a_value() -> None:
    found = read_environment({})
    assert found.is_offline
    assert (found.rank, found.world_size, found.rank_dir, found.resume_from) == (0, 1, None, None)
    assert found.checkpoint_dir == Path("checkpoints")


def test_a_folder_left_over_from_elsewhere_does_not_make_a_platform() -> None:
    assert read_environment({"HEADWAY_RANK_DIR": "/run/old/rank-0"}).rank_dir is None


def test_a_restart_by_torchrun_itself_looks_for_what_was_saved_since() -> None:
    restarted = {**CONTRACT, "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "1"}
    assert read_environment(restarted).resume_from is None
    assert read_environment({**restarted, "TORCHELASTIC_RESTART_COUNT": "0"}).resume_from is not None


def test_a_variable_that_is_no_number_is_named() -> None:
    with pytest.raises(ValueError, match="RANK='first'"):
        read_environment({"RANK": "first"})


def test_the_jobs_checkpoint_policy_is_read_where_it_is_given() -> None:
    found = read_environment({"HEADWAY_CHECKPOINT_EVERY": "20", "HEADWAY_CHECKPOINT_KEEP": "5"})
    assert (found.checkpoint_every, found.checkpoint_keep) == (20, 5)
