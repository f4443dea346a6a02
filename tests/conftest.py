"""Shared settings: hypothesis draws the same cases on every machine, and no case is failed for being slow."""

from hypothesis import settings

settings.register_profile("dualfree", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("dualfree")
