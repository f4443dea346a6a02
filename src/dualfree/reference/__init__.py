"""The specification: the paper's formulas in plain NumPy, slow and literal.

Nothing here is shared with the kernels. Each function is one equation, written down as directly as Python allows,
so that it can be checked by reading; the tests hold the fast code to it.

- `losses`: each φ, its derivative, conjugate and smoothness;
- `bounded`: those without a conjugate, and that of positive and unlabelled examples;
- `problem`: P, ∇P, the dual D and the duality gap;
- `algorithm`: the step sizes, the implicit step, and Algorithm 1 as a loop over batches;
- `dual`: SDCA and Prox-SDCA, ASDCA, Acc-Prox-SDCA;
- `primal`: SGD, SAG, SAGA, S2CD, and SVRG, S2GD and mS2GD as one loop;
- `primal_dual`: QUARTZ, SDNA, AdaSDCA's probabilities, SDCA without duality;
- `coordinates`: NSync (and Hydra), UCDC and ALPHA, along features;
- `component`: the inner loop of shift-and-invert for the leading eigenvector;
- `rounds`: what a partition proposes in a round on several;
- `copies`: rounds in which each part moves a copy of w of its own;
- `samplings`: for each sampling p, the pair probabilities and the ESO weights β;
- `overapproximation`: v from β, and the eigenvalue test that any ESO must pass;
- `vectors`: all of it for examples with several outputs.
"""

from dualfree.reference.algorithm import dfsdca, implicit_step, nearly_implicit_step, theta
from dualfree.reference.bounded import positive_unlabelled, savage, sigmoid, tukey
from dualfree.reference.component import shift_and_invert
from dualfree.reference.coordinates import alpha, feature_curvatures, nsync, ucdc
from dualfree.reference.copies import dfsdca_copies
from dualfree.reference.dual import acc_prox_sdca, asdca, best_multiple, exact_step, sdca
from dualfree.reference.line import along_line
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
from dualfree.reference.primal_dual import adaptive_probabilities, quartz, sdca_without_duality, sdna
from dualfree.reference.problem import ReferenceProblem
from dualfree.reference.rounds import local_moves
from dualfree.reference.samplings import ReferenceSampling

__all__ = [
    "ReferenceLoss",
    "ReferenceProblem",
    "ReferenceSampling",
    "acc_prox_sdca",
    "adaptive_probabilities",
    "along_line",
    "alpha",
    "asdca",
    "best_multiple",
    "dfsdca",
    "dfsdca_copies",
    "eso_constant",
    "eso_parameters",
    "exact_step",
    "feature_curvatures",
    "huber",
    "implicit_step",
    "length_law",
    "local_moves",
    "logistic",
    "nearly_implicit_step",
    "nsync",
    "positive_unlabelled",
    "quartz",
    "s2cd",
    "sag",
    "saga",
    "savage",
    "sdca",
    "sdca_without_duality",
    "sdna",
    "semi_stochastic",
    "sgd",
    "shift_and_invert",
    "sigmoid",
    "smoothed_hinge",
    "squared",
    "squared_hinge",
    "theta",
    "tukey",
    "ucdc",
]
