"""Benchmarks: every one runs both sides in one go. `python -m benchmarks` runs all, `python -m benchmarks.NAME` one."""
