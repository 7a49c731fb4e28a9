"""Ways to people: DingTalk, WeCom, Feishu, e-mail, webhooks and whatever else Apprise knows, each by a URL.

The URL holds secrets: it is never logged, and shown only in part.
"""

import logging
from io import StringIO

from headway.domain.errors import PlatformError, say

LONGEST_REASON = 300


def check(url: str) -> None:
    """Raise `invalid-field` for a URL that names no known way to people, without quoting its secrets."""
    from apprise import Apprise

    if not Apprise().add(url):
        raise PlatformError("invalid-field", field="url", value=shown(url), rule="rule-channel-url")


def shown(url: str) -> str:
    """The kind of a channel: its scheme, and nothing of what comes after."""
    scheme, separator, _ = url.partition("://")
    return f"{scheme}://…" if separator and scheme.isascii() and len(scheme) < 32 else "…"


def send(url: str, title: str, body: str) -> str | None:
    """Send one message; None when the channel took it, otherwise why not, without the URL."""
    from apprise import Apprise, NotifyType

    carrier = Apprise()
    if not carrier.add(url):
        return say("url-unknown")
    told = StringIO()
    listener = logging.StreamHandler(told)
    logger = logging.getLogger("apprise")
    logger.addHandler(listener)
    try:
        if carrier.notify(body=body, title=title, notify_type=NotifyType.WARNING):
            return None
    except Exception as error:
        return type(error).__name__
    finally:
        logger.removeHandler(listener)
    words = told.getvalue().strip().replace(url, shown(url))
    return words[-LONGEST_REASON:] or say("not-taken")
