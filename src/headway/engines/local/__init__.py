"""One machine as one or several virtual nodes."""
