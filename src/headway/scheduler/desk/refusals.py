"""The words for why a line may not start in one pool now. `reasons` tells them with their numbers."""

QUOTA, ARRAY, WINDOW, LENT, PROTECTED = "quota", "array", "window", "lent", "protected"
SHORT = "short"
"""Not enough is free."""
BEHIND = "behind"
"""It would delay a promise."""
