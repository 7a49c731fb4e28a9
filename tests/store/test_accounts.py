"""The quota tree, users and their tokens."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.quota import Department, Project, Quota
from headway.store import accounts, quotas, world
from headway.store.accounts import Token, User
from tests.store.rows import NOW, later, with_projects

ANN = User("ann", "$argon2id$…", "ann", NOW)


def test_the_quota_tree_comes_back_as_it_was(c: Connection) -> None:
    with_projects(c)
    assert quotas.departments(c) == [Department("research", NOW)]
    assert quotas.projects(c) == [Project("speech", "research", NOW), Project("vision", "research", NOW)]
    assert quotas.project(c, "vision") == Project("vision", "research", NOW)
    assert quotas.project(c, "nothing") is None


def test_a_name_is_given_once(c: Connection) -> None:
    with_projects(c)
    accounts.add_user(c, ANN)
    with pytest.raises(PlatformError, match="department: research exists already"):
        quotas.add_department(c, Department("research", later(1)))
    with pytest.raises(PlatformError, match="project: vision exists already"):
        quotas.add_project(c, Project("vision", "research", later(1)))
    with pytest.raises(PlatformError, match="user: ann exists already"):
        accounts.add_user(c, ANN)


def test_nothing_hangs_on_a_branch_that_is_not_there(c: Connection) -> None:
    with pytest.raises(PlatformError, match="no department called nowhere"):
        quotas.add_project(c, Project("vision", "nowhere", NOW))
    with pytest.raises(PlatformError, match="no project called vision"):
        quotas.set_quota(c, Quota("vision", "cpu", 1), at=NOW, by="admin")


def test_a_quota_replaces_the_one_before_and_changes_the_world(c: Connection) -> None:
    with_projects(c)
    version = world.version(c)
    quotas.set_quota(c, Quota("vision", "cpu", 8), at=later(1), by="admin")
    quotas.set_quota(c, Quota("speech", "h200", 2), at=later(1), by="admin")
    assert quotas.quotas(c) == [Quota("speech", "h200", 2), Quota("vision", "cpu", 8)]
    assert quotas.quotas(c, "vision") == [Quota("vision", "cpu", 8)]
    assert world.version(c) == version + 2


def test_users_come_back_as_they_were_and_change_their_passwords(c: Connection) -> None:
    robot = User("robot", None, None, NOW)
    accounts.add_user(c, robot)
    accounts.add_user(c, ANN)
    accounts.set_password(c, "robot", "hash")
    assert accounts.users(c) == [ANN, User("robot", "hash", None, NOW)]
    assert accounts.user(c, "ann") == ANN
    assert accounts.user(c, "bob") is None
    with pytest.raises(PlatformError, match="not-found"):
        accounts.set_password(c, "bob", "hash")


def test_a_role_holds_in_one_project_or_everywhere(c: Connection) -> None:
    accounts.add_user(c, ANN)
    accounts.grant_role(c, "ann", "lead", "vision")
    accounts.grant_role(c, "ann", "lead", "vision")
    accounts.grant_role(c, "ann", "viewer", None)
    assert accounts.roles(c, "ann") == [("viewer", None), ("lead", "vision")]
    assert accounts.roles(c, "bob") == []


def test_a_token_opens_its_users_account_until_it_expires_or_is_revoked(c: Connection) -> None:
    accounts.add_user(c, ANN)
    accounts.add_token(c, "t-1", "ann", "digest-1", NOW, later(60))
    accounts.add_token(c, "t-2", "ann", "digest-2", NOW, None)
    assert accounts.user_of_token(c, "digest-1", later(59)) == ANN
    assert accounts.user_of_token(c, "digest-1", later(60)) is None
    assert accounts.user_of_token(c, "digest-2", NOW + timedelta(days=9999)) == ANN
    assert accounts.user_of_token(c, "digest-3", NOW) is None
    assert accounts.revoke_token(c, "t-2")
    assert not accounts.revoke_token(c, "t-2")
    assert accounts.user_of_token(c, "digest-2", NOW) is None


def test_tokens_are_listed_and_roles_withdrawn(c: Connection) -> None:
    accounts.add_user(c, ANN)
    accounts.add_token(c, "t-2", "ann", "digest-2", later(1), None)
    accounts.add_token(c, "t-1", "ann", "digest-1", NOW, later(60))
    assert accounts.tokens(c, "ann") == [Token("t-1", "ann", NOW, later(60)), Token("t-2", "ann", later(1), None)]
    accounts.grant_role(c, "ann", "lead", "vision")
    accounts.grant_role(c, "ann", "lead", None)
    assert accounts.withdraw_role(c, "ann", "lead", None)
    assert not accounts.withdraw_role(c, "ann", "lead", None)
    assert accounts.roles(c, "ann") == [("lead", "vision")]
