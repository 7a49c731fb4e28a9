"""Secrets the server makes: identifiers, user tokens, attempt tokens and password hashes.

Only digests are stored. An attempt's token is derived from the server's own secret and the attempt's id, so that after
any crash the same attempt is launched with the same token.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from headway.domain.ids import AttemptId, new_id

HASHER = PasswordHasher()


def make_id(prefix: str) -> str:
    """A fresh identifier."""
    return new_id(prefix, secrets.token_bytes(16))


def make_token() -> str:
    """A fresh user token."""
    return "hw_" + secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def hash_password(password: str) -> str:
    """An argon2id hash."""
    return HASHER.hash(password)


def password_fits(stored: str, password: str) -> bool:
    """Whether a password is the one that was hashed."""
    try:
        return HASHER.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


class AttemptTokens:
    """Tokens of attempts, derived from a secret file of mode 0600 that is made on first use."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(32))
            os.replace(temporary, path)
        self._secret = path.read_bytes()

    def of(self, attempt: AttemptId) -> str:
        """The token of one attempt."""
        return "hwa_" + hmac.new(self._secret, attempt.encode(), hashlib.sha256).hexdigest()

    def digest_of(self, attempt: AttemptId) -> str:
        """What is stored of it."""
        return digest(self.of(attempt))

    def of_node(self, node: str, generation: int) -> str:
        """A node's credential; another generation is another credential."""
        words = f"node/{node}/{generation}".encode()  # no attempt's id has a slash
        return "hwn_" + hmac.new(self._secret, words, hashlib.sha256).hexdigest()
