"""Inside a training process: say how far it is, save and restore checkpoints, hear that it should stop.

Python 3.9 and the standard library only; imports nothing else of the package, and torch only where the program has it.
"""

from headway.sdk.job.run import Run, attach

__all__ = ["Run", "attach"]
