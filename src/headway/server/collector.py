"""How often Python looks for cycles of garbage.

A plan makes half a million small values that are all needed at once; to look at them every 700 allocations costs a
third of it. Decides nothing else.
"""

import gc

ALLOCATIONS = 600_000
"""More than one plan of 50,000 waiting jobs makes."""


def relax() -> None:
    """What is loaded already is never looked at again, the rest less often. Once, when a process has started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, 10, 10)
