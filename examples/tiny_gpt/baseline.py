"""What a general compressor makes of a data set, in nats a byte: the loss a language model has to beat."""

from __future__ import annotations

import lzma
import math
import sys
from pathlib import Path


def nats_a_byte(data: bytes) -> float:
    """The compressed size of `data` as a loss."""
    return len(lzma.compress(data)) * 8 * math.log(2) / len(data)


if __name__ == "__main__":
    print(f"lzma: {nats_a_byte((Path(sys.argv[1]) / 'data.bin').read_bytes()):.3f} nats a byte")
