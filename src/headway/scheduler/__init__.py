"""Which queued job starts where, when the others will, and why they wait: pure functions of a snapshot.

This room decides; it must never read a clock, a disk or a network, draw random numbers, or act on what it decided.
"""
