"""Who asks: the platform, the user behind a token, what they may do, and repeated requests answered alike."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Header, Request
from pydantic import TypeAdapter
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.server.access import Held, Role, Verb, check, readable_projects
from headway.server.operations.people.directory import Change
from headway.server.platform import Platform
from headway.server.secrets import digest
from headway.store import accounts, idempotency

T = TypeVar("T")
NAMED = 5


def platform_of(request: Request) -> Platform:
    """The platform this application was made for."""
    found: Platform = request.app.state.platform
    return found


@dataclass(frozen=True, slots=True)
class Asker:
    """The user behind a request, with every role held."""

    name: str
    held: tuple[Held, ...]
    platform: Platform

    def check(self, verb: Verb, resource: str, project: str | None = None) -> None:
        """Raise `forbidden`, with the names of who could grant it, unless the table of roles allows it."""
        try:
            check(self.name, self.held, verb, resource, project)
        except PlatformError as refused:
            with self.platform.database.read() as c:
                granting = accounts.holders(c, Role.ADMIN)
            who = ", ".join(granting[:NAMED]) or refused.params["who"]
            raise PlatformError(refused.code, **{**refused.params, "who": who}) from None

    def change(self) -> Change:
        return Change(self.name, self.platform.clock.now())

    @property
    def projects(self) -> frozenset[str] | None:
        """Projects whose rows may be read; None: all."""
        return readable_projects(self.held)


PlatformHere = Annotated[Platform, Depends(platform_of)]


def asker_of(platform: PlatformHere, authorization: Annotated[str | None, Header()] = None) -> Asker:
    """The user whose bearer token this is. Raises `not-logged-in`."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise PlatformError("not-logged-in")
    with platform.database.read() as c:
        user = accounts.user_of_token(c, digest(token), platform.clock.now())
        if user is None:
            raise PlatformError("not-logged-in")
        held = tuple((Role(role), project) for role, project in accounts.roles(c, user.name))
    return Asker(user.name, held, platform)


AskerHere = Annotated[Asker, Depends(asker_of)]


class Once:
    """A write that may be sent again: with an `Idempotency-Key` it happens once, and its answer is given again."""

    def __init__(self, request: Request, asker: AskerHere, idempotency_key: Annotated[str | None, Header()] = None):
        self.asker = asker
        self.key = idempotency_key
        self.where = f"{request.method} {request.url.path}"

    def __call__(
        self,
        body: object,
        answer_type: type[T],
        act: Callable[[Connection], T],
        before: Callable[[], None] | None = None,
    ) -> T:
        """Run `act` in one transaction, and `before` it, outside of any, what may take long.

        Raises `idempotency-mismatch` for a key used before with another body.
        """
        adapter, sent = adapter_of(cast(Any, answer_type)), _digest(self.where, body)
        if before is not None:
            with self.asker.platform.database.read() as c:
                known = self._known(c, sent)
            if known is None:
                before()
        with self.asker.platform.database.write() as c:
            known = self._known(c, sent)
            if known is not None:
                return cast(T, adapter.validate_json(known.body))
            answer = act(c)
            if self.key:
                kept = idempotency.Answer(sent, 201, adapter.dump_json(answer).decode())
                idempotency.put(c, self.asker.name, self.key, kept, self.asker.platform.clock.now())
        return answer

    def _known(self, c: Connection, sent: str) -> idempotency.Answer | None:
        known = idempotency.find(c, self.asker.name, self.key) if self.key else None
        if known is not None and known.request_digest != sent:
            raise PlatformError("idempotency-mismatch", key=self.key)
        return known


OnceHere = Annotated[Once, Depends(Once)]


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Building one costs more than the rest of a submission."""
    return TypeAdapter(kind)


def _digest(where: str, body: object) -> str:
    shown = json.dumps(adapter_of(Any).dump_python(body, mode="json"), sort_keys=True)
    return hashlib.sha256(f"{where}\n{shown}".encode()).hexdigest()
