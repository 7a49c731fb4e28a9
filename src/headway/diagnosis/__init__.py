"""Room `diagnosis`: see README.md beside this file."""

from headway.diagnosis.describe import describe
from headway.diagnosis.examine import examine

__all__ = ["describe", "examine"]
