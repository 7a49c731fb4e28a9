"""Measurements, each against a floor in the same run. `python -m benchmarks.<name> [--json]`."""
