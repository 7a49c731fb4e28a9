"""The loops: each reads, calls a pure decision, acts outside any transaction, and writes the result if it still holds.

Every loop can be killed at any line and started again.
"""
