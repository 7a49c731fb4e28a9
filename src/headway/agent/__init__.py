"""The witness beside the user's processes on every node: starts them, keeps their output, measures, reports.

Standard library of Python 3.9 only, and nothing of the package but itself: this room runs inside any image.
"""
