"""The API as methods, one a route. Answers are plain JSON: dicts and lists with the keys of the REST schema.

Decides nothing and keeps nothing; a route without a method is reached by `get`, `all`, `post` and `put`.
"""

from headway.domain.errors import Language
from headway.sdk.client.access import Access, find_access
from headway.sdk.client.alerts import Alerts
from headway.sdk.client.assets import Assets
from headway.sdk.client.calls import Row
from headway.sdk.client.jobs import Jobs
from headway.sdk.client.machines import Machines
from headway.sdk.client.people import People
from headway.sdk.client.records import Records
from headway.sdk.client.rules import Rules
from headway.sdk.client.transport import Transport
from headway.sdk.client.usage import Usage
from headway.sdk.client.watching import Watching


class Client(Jobs, Records, Machines, Watching, People, Usage, Assets, Rules, Alerts):
    """A server's API with a token. Use it as a context, or `close` it.

    Every method may raise `ApiError` (the server refused, in `language`) or `Unreachable`: nobody listened for
    `patience_s`, or an answer took longer than `answer_s`. `ca_file`: PEM, trusted instead of the machine's.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        language: Language = "en",
        *,
        patience_s: float = 3.0,
        answer_s: float = 60.0,
        ca_file: str | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        super().__init__(Transport(Access(self.url, token, ca_file), language, patience_s, answer_s))

    @classmethod
    def from_environment(cls, language: Language = "en") -> "Client":
        """The client for HEADWAY_URL, HEADWAY_TOKEN and HEADWAY_CA_FILE, or the file `headway login` wrote."""
        access = find_access()
        return cls(access.url, access.token, language, ca_file=access.ca_file)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._transport.close()

    def health(self) -> Row:
        return dict(self.get("/health"))

    def log_in(self, user: str, password: str) -> Row:
        """`{"token", "user"}`; this client goes on with the token it had."""
        return dict(self.post("/login", {"user": user, "password": password}))

    def me(self) -> Row:
        return dict(self.get("/me"))
