"""The same `solve` on a Dask cluster: ``dualfree.distributed.solve(problem, client=...)``.

Dask is imported when a fit begins; ``pip install "dualfree[cluster]"`` brings it.
"""

from dualfree.distributed.connection import SchedulerLostError
from dualfree.distributed.solve import Partitioned, solve

__all__ = ["Partitioned", "SchedulerLostError", "solve"]
