"""The client of Headway's HTTP API: `Client`, its errors, and where address and token come from.

Each name is loaded when it is asked for: reading an address must not cost the import of an HTTP library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.sdk.client.access import Access as Access
    from headway.sdk.client.access import client_file as client_file
    from headway.sdk.client.access import find_access as find_access
    from headway.sdk.client.access import save_access as save_access
    from headway.sdk.client.client import Client as Client
    from headway.sdk.client.errors import ApiError as ApiError
    from headway.sdk.client.errors import Unreachable as Unreachable
    from headway.sdk.client.stream import Event as Event

HOMES = {
    "Access": "access",
    "client_file": "access",
    "find_access": "access",
    "save_access": "access",
    "Client": "client",
    "ApiError": "errors",
    "Unreachable": "errors",
    "Event": "stream",
}
__all__ = ["Access", "ApiError", "Client", "Event", "Unreachable", "client_file", "find_access", "save_access"]


def __getattr__(name: str) -> object:
    if name in HOMES:
        return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
