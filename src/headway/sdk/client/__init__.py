"""The client of Headway's HTTP API: `Client`, its errors, and where address and token come from."""

from headway.sdk.client.access import Access, client_file, find_access, save_access
from headway.sdk.client.client import Client
from headway.sdk.client.errors import ApiError, Unreachable
from headway.sdk.client.stream import Event

__all__ = ["Access", "ApiError", "Client", "Event", "Unreachable", "client_file", "find_access", "save_access"]
