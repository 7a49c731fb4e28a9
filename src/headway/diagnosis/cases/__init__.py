"""Nodes over time: faults counted against the pool's norm, retests against a reference, and what failed together."""
