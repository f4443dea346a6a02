"""Benchmarks: each module runs by itself, as in ``python -m benchmarks.custom_loss``, and prints a table."""
