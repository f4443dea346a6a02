"""dualfree: L2-regularised linear models by dual-free SDCA with any mini-batching scheme.

``Problem × Sampling × Method → Result``::

    import dualfree as df

    problem = df.Problem(X, df.losses.Logistic(y), lam=1 / len(y))
    result = df.solve(problem)
    result.w, result.certificate.gap
"""

from dualfree import datasets, distributed, io, losses, samplings
from dualfree.chunking import chunks
from dualfree.io import read_libsvm, write_libsvm
from dualfree.planning import plan
from dualfree.problem import Problem
from dualfree.result import Certificate, History, Result, Status
from dualfree.solve import solve

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "History",
    "Problem",
    "Result",
    "Status",
    "chunks",
    "datasets",
    "distributed",
    "io",
    "losses",
    "plan",
    "read_libsvm",
    "samplings",
    "solve",
    "write_libsvm",
]
