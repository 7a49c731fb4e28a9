"""kill -9 of the store at any moment: every log byte is there once.

The child is the server's side: it answers pieces over a pipe, with a flush going on all the time. The test plays the
agent of docs/protocol.md §3: it keeps a spool of what is not durable, and after each kill goes on from where the child
says.
"""

import os
import random
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headway.store.logs import LogBook, stream

ATTEMPT = "j-7f3k2m9q.1"
RANKS = (0, 1, 7)
REQUEST = struct.Struct("<IQ?I")
ANSWER = struct.Struct("<QQ")
LIVES = 24
DEADLINE = 60
NOW = datetime(2026, 12, 1, 8, tzinfo=UTC)


def serve(root: Path) -> None:
    """The child: one answer a request, until it is killed or its input ends."""
    stream.SEGMENT_BYTES = 700_000
    logs = LogBook(root)

    def flush() -> None:
        while True:
            logs.flush()

    threading.Thread(target=flush, daemon=True).start()
    while header := sys.stdin.buffer.read(REQUEST.size):
        rank, offset, final, length = REQUEST.unpack(header)
        content = sys.stdin.buffer.read(length)
        ack = logs.append(ATTEMPT, rank, offset, content, NOW, NOW, final)
        os.write(1, ANSWER.pack(ack.received, ack.durable))


class Agent:
    """One rank's side: what it still holds in its spool, and where it goes on."""

    def __init__(self, rank: int, text: bytes) -> None:
        self.rank, self.text = rank, text
        self.position = self.durable = 0

    def request(self, length: int, final: bool = False) -> bytes:
        assert self.position >= self.durable, "the spool before what was durable is gone"
        piece = self.text[self.position : self.position + length]
        return REQUEST.pack(self.rank, self.position, final, len(piece)) + piece

    def learn(self, answer: bytes) -> None:
        received, durable = ANSWER.unpack(answer)
        assert received >= self.durable, "what was durable came back shorter"
        self.position, self.durable = received, max(self.durable, durable)


@contextmanager
def served(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", __name__, str(root)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        yield child
    finally:
        child.kill()
        child.wait(DEADLINE)
        assert child.stdin
        assert child.stdout
        child.stdin.close()
        child.stdout.close()


def ask(child: subprocess.Popen[bytes], request: bytes, patience: float = DEADLINE) -> bytes | None:
    """Send a request; its answer, or None when none came in time."""
    assert child.stdin
    assert child.stdout
    rest = memoryview(request)
    while rest:
        rest = rest[child.stdin.write(rest) or 0 :]
    if not select.select([child.stdout], [], [], patience)[0]:
        return None
    return child.stdout.read(ANSWER.size)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_store_killed_at_random_moments_has_every_byte_once(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    agents = [Agent(rank, draw.randbytes(3_000_000) + b"\n" * 1_000_000) for rank in RANKS]
    killed_unanswered = 0
    for _ in range(LIVES):
        with served(tmp_path) as child:
            for _ in range(draw.randrange(1, 12)):
                agent = draw.choice(agents)
                agent.learn(ask(child, agent.request(draw.choice([1, 100, 5_000, 300_000]))) or b"")
            agent = draw.choice(agents)
            answer = ask(child, agent.request(1_000_000), patience=draw.uniform(0, 0.01))
            killed_unanswered += answer is None
            if answer:
                agent.learn(answer)
    assert killed_unanswered > 0
    with served(tmp_path) as child:
        for agent in agents:
            while agent.durable < len(agent.text):
                agent.learn(
                    ask(child, agent.request(1_000_000, final=agent.position + 1_000_000 >= len(agent.text))) or b""
                )
    logs = LogBook(tmp_path)
    assert logs.ranks(ATTEMPT) == list(RANKS)
    for agent in agents:
        assert logs.size(ATTEMPT, agent.rank) == len(agent.text)
        assert logs.read(ATTEMPT, agent.rank, 0, len(agent.text) + 1) == agent.text


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
