"""The working state of a cycle: numbers only, cheap to copy, stepped by the plan and by every look ahead alike.

Times are seconds since the desk's epoch, nodes are indices into their pool. Nothing outside this folder changes it but
through `Desk`.
"""
