"""The specification: the paper's formulas in plain NumPy, slow and literal.

Nothing here is shared with the kernels. Each function is one equation, written down as directly as Python allows,
so that it can be checked by reading; the tests hold the fast code to it.

- `losses`: each φ, its derivative, conjugate and smoothness;
- `problem`: P, ∇P, the dual D and the duality gap;
- `algorithm`: the step sizes, the implicit step, and Algorithm 1 as a loop over batches;
- `primal`: SGD, SAG, SAGA, S2CD, and SVRG, S2GD and mS2GD as one loop;
- `samplings`: for each sampling p, the pair probabilities and the ESO weights β;
- `overapproximation`: v from β, and the eigenvalue test that any ESO must pass;
- `vectors`: all of it for examples with several outputs.
"""

from dualfree.reference.algorithm import dfsdca, implicit_step, theta
from dualfree.reference.losses import (
    ReferenceLoss,
    huber,
    logistic,
    smoothed_hinge,
    squared,
    squared_hinge,
)
from dualfree.reference.overapproximation import eso_constant, eso_parameters
from dualfree.reference.primal import length_law, s2cd, sag, saga, semi_stochastic, sgd
from dualfree.reference.problem import ReferenceProblem
from dualfree.reference.samplings import ReferenceSampling

__all__ = [
    "ReferenceLoss",
    "ReferenceProblem",
    "ReferenceSampling",
    "dfsdca",
    "eso_constant",
    "eso_parameters",
    "huber",
    "implicit_step",
    "length_law",
    "logistic",
    "s2cd",
    "sag",
    "saga",
    "semi_stochastic",
    "sgd",
    "smoothed_hinge",
    "squared",
    "squared_hinge",
    "theta",
]
