"""The compiled core: picks the best instruction set of this processor when it is imported.

`kernels` is one of `_kernels_baseline`, `_kernels_avx2`, `_kernels_avx512`, those of them that were built; all hold the
same functions.
The environment variable ``DUALFREE_ISA`` overrides the choice, which is how the tests reach every one of them.
"""

import importlib
import importlib.util
import os
from typing import Any

SUPPORTED: list[str] = [
    level
    for level in importlib.import_module("dualfree._native._processor").supported()
    if importlib.util.find_spec(f"dualfree._native._kernels_{level}") is not None
]


def _choose() -> str:
    wanted = os.environ.get("DUALFREE_ISA")
    if wanted is None:
        return SUPPORTED[-1]
    if wanted not in SUPPORTED:
        raise ImportError(
            f"DUALFREE_ISA is {wanted!r}, but this build on this processor runs only: {', '.join(SUPPORTED)}."
        )
    return wanted


ISA: str = _choose()
kernels: Any = importlib.import_module(f"dualfree._native._kernels_{ISA}")
