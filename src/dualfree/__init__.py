"""dualfree: L2-regularised linear models by dual-free SDCA with any mini-batching scheme.

``Problem × Sampling × Method → Result``::

    import dualfree as df

    problem = df.Problem(X, df.losses.Logistic(y), lam=1 / len(y))
    result = df.solve(problem)
    result.w, result.certificate.gap
"""

from dualfree import datasets, distributed, io, losses, regularisers, samplings
from dualfree.chunking import chunks
from dualfree.component import LeadingComponent, leading_component
from dualfree.convexity import Convexity, ConvexityWarning
from dualfree.examples import Blocks
from dualfree.io import read_libsvm, write_libsvm
from dualfree.planning import plan
from dualfree.problem import Problem
from dualfree.result import Certificate, History, Result, Status
from dualfree.solve import solve
from dualfree.store import Store, import_files, open_store

__version__ = "0.1.0"

__all__ = [
    "Blocks",
    "Certificate",
    "Convexity",
    "ConvexityWarning",
    "History",
    "LeadingComponent",
    "Problem",
    "Result",
    "Status",
    "Store",
    "chunks",
    "datasets",
    "distributed",
    "import_files",
    "io",
    "leading_component",
    "losses",
    "open_store",
    "plan",
    "read_libsvm",
    "regularisers",
    "samplings",
    "solve",
    "write_libsvm",
]
