"""What a call can fail with: a refusal in the server's own words, or no answer at all."""

from collections.abc import Mapping
from typing import Any

from headway.domain.errors import Language, Param, PlatformError, status_of


class ApiError(PlatformError):
    """The server refused. `detail` and `advice` are its words, in the language the client asked in."""

    def __init__(
        self, code: str, params: Mapping[str, Param] | None = None, detail: str = "", hint: str = "", status: int = 500
    ) -> None:
        super().__init__(code)
        self.params = dict(params or {})
        self.detail = detail
        self.advice = hint
        self.status = status

    def __str__(self) -> str:
        return f"{self.detail or self.code} [{self.code}]"

    def text(self, language: Language) -> str:
        """What the server said; its message in this language where it said nothing."""
        return self.detail or super().text(language)

    def hint(self, language: Language) -> str:
        """The way out, in the server's words where it gave any."""
        return self.advice or super().hint(language)


class Unreachable(PlatformError):
    """No answer: nobody listens at `url`, or the connection broke and stayed broken. `status` is 503."""

    def __init__(self, url: str, detail: str) -> None:
        super().__init__("server-unreachable", url=url, detail=detail)
        self.detail = detail
        self.status = status_of(self.code)


def refusal(status: int, body: object) -> ApiError:
    """The error in a response that is not 2xx; `body` is its JSON, or whatever stood in its place."""
    if isinstance(body, dict) and isinstance(body.get("code"), str):
        told: dict[str, Any] = body
        return ApiError(
            told["code"], told.get("params"), str(told.get("detail", "")), str(told.get("hint", "")), status
        )
    return ApiError("unexpected-answer", {"status": status, "body": str(body)[:200]}, status=status)
