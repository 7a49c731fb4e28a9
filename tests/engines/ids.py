"""Identifiers for tests: random, so that runs side by side on one machine never meet."""

import secrets

from headway.domain.ids import JobId, new_id


def new_job() -> JobId:
    return JobId(new_id("j", secrets.token_bytes(8)))
