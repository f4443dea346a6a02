"""The leading principal component of sparse data: `dualfree.leading_component` against SciPy's `svds` (ARPACK).

Both stop at a relative tolerance of 1e-6 and take turns; one thread each. svds takes X as it is, so the comparison is
without centring; what centring costs us is a row of its own. Run ``python -m benchmarks.leading_component``.
"""

import os
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.table import Table
from scipy.sparse.linalg import svds

import dualfree as df
from benchmarks.data import load
from benchmarks.machine import console, print_machine
from benchmarks.timing import median_ratio, take_turns

NAMES = ("w8a", "dorothea", "protein", "rcv1", "cov1", "text-like")
TOL = 1e-6
REPEATS = 9


def angle(one: Any, other: Any) -> float:
    """The sine of the angle between two unit vectors."""
    return float(np.linalg.norm(one - (one @ other) * other))


def main() -> None:
    table = Table(title=f"The leading component to a relative residual of {TOL:g}, milliseconds (medians)")
    for heading in ("data", "n × d", "svds", "ours", "ratio", "centred", "work", "sine"):
        table.add_column(heading, justify="left" if heading in ("data", "n × d") else "right", no_wrap=True)
    for name in NAMES:
        data = load(name)
        X = data.X
        contestants = {
            "svds": lambda X=X: svds(X, k=1, tol=TOL, rng=np.random.default_rng(0)),
            "dualfree": lambda X=X: df.leading_component(X, tol=TOL),
            "centred": lambda X=X: df.leading_component(X, tol=TOL, centre=True),
        }
        timings = take_turns(contestants, REPEATS)
        ours, theirs = df.leading_component(X, tol=TOL), svds(X, k=1, tol=1e-12)[2][0]
        table.add_row(
            name if data.provenance == "real" else f"{name} *",
            f"{X.shape[0]} × {X.shape[1]}",
            f"{1e3 * timings['svds'].median:.0f}",
            f"{1e3 * timings['dualfree'].median:.0f}",
            f"{median_ratio(timings['svds'], timings['dualfree']):.2f}",
            f"{1e3 * timings['centred'].median:.0f}",
            f"{ours.epochs:.0f} + {ours.passes}",
            f"{angle(ours.vector, theirs):.0e}",
        )
    console.print(table)
    console.print("Ratio: svds / ours. Sine: of the angle to the vector that svds finds at 1e-12.")
    console.print("Work: epochs + passes, for a product with C is a pass and ARPACK makes at least 21.")
    console.print("*: stand-in, reconstructed or synthetic.")
    print_machine()


if __name__ == "__main__":
    main()
