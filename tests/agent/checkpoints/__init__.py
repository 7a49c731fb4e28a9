"""Checkpoints of frameworks: see the room."""
