"""What a node's daemon sends, as in `docs/protocol.md` §5. Unknown keys are ignored: newer daemons may say more."""

from typing import Annotated

from pydantic import BaseModel, Field

from headway.domain.card import CardFound
from headway.server.wire import Count, Line, Moment, Rank

Word = Annotated[str, Field(max_length=128, pattern=r"^[^\x00]*$")]


class NodeReading(BaseModel):
    """One measurement; `device`: the card's index."""

    t: Moment
    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")
    device: Rank | None = None
    value: float = Field(allow_inf_nan=False)


class NodeFault(BaseModel):
    """What the kernel or a card tool said went wrong, `count` times at once."""

    t: Moment
    kind: Word
    code: int | Word | None = None
    card: Rank | None = None
    device: Word | None = None
    pid: Count | None = None
    process: Word | None = None
    count: Count = 1
    text: Line = ""


class Inventory(BaseModel):
    """What the node is made of."""

    maker: Word
    driver: Word | None = None
    kernel: Word = ""
    cores: Count = 0
    cards: Annotated[tuple[CardFound, ...], Field(max_length=1024)] = ()


class NodeReport(BaseModel):
    """One report of one node's daemon; `seq` grows, also over restarts."""

    seq: Count
    at: Moment
    engine: Word
    readings: Annotated[list[NodeReading], Field(max_length=50_000)] = []
    events: Annotated[list[NodeFault], Field(max_length=5_000)] = []
    inventory: Inventory | None = None


class Recorded(BaseModel):
    """Up to which report everything is recorded."""

    seq: int
