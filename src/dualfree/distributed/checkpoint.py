"""Where a fit on a cluster stands, as one file: written to another name first, so that it is whole or not there."""

import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dualfree.arrays import Floats
from dualfree.methods.base import State


class Standing(NamedTuple):
    """What a file holds: the point, α (empty for methods that derive it from w), and how far the fit was."""

    w: Floats
    alpha: Floats
    iteration: int
    sigma: float
    shape: tuple[int, int]
    method: str


def save(path: Path, state: State, shape: tuple[int, int], method: str) -> None:
    """Write the state of a fit."""
    sigma = state.memory.get("sigma", np.array([np.nan]))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                w=state.w,
                alpha=state.alpha,
                iteration=state.iteration,
                sigma=sigma[0],
                shape=np.array(shape),
                method=np.array(method),
            )
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: Any, shape: tuple[int, int]) -> Standing:
    """Read it again; it must belong to a problem of this shape."""
    try:
        with np.load(path, allow_pickle=False) as found:
            n, d = (int(k) for k in found["shape"])
            standing = Standing(
                found["w"],
                found["alpha"],
                int(found["iteration"]),
                float(found["sigma"]),
                (n, d),
                str(found["method"]),
            )
    except (ValueError, KeyError, EOFError) as error:
        raise ValueError(f"resume is {path}, which is not a checkpoint of a fit on a cluster ({error}).") from None
    if standing.shape != shape:
        raise ValueError(
            f"resume is {path}, a checkpoint of {n} examples and {d} weights, "
            f"but the problem has {shape[0]} and {shape[1]}."
        )
    return standing
