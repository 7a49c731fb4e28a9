"""Logs: what each rank of an attempt wrote, byte for byte, addressed by byte offset and by arrival time.

Start reading at `book.py`; the layout on disk is in `frame.py`. Nothing here knows HTTP, SQL or what the lines mean.
"""

from headway.store.logs.arrivals import Arrival
from headway.store.logs.book import LogBook
from headway.store.logs.stream import Ack

__all__ = ["Ack", "Arrival", "LogBook"]
