"""What several methods require of a problem and of a sampling, each refused in one sentence that names what can."""

from dualfree.losses.builtin import BuiltIn
from dualfree.problem import Problem
from dualfree.samplings import Sampling


def require_plain(method: str, problem: Problem) -> None:
    """Convex losses that run in the kernels, and no intercept."""
    problem.require_convex(method)
    if problem.intercept:
        raise ValueError(f"{method} has no intercept; method='dfsdca' and method='newton' have one.")
    if problem.loss.native is None:
        raise ValueError(
            f"{method} needs a loss that runs in the kernels, but {type(problem.loss).__name__} is written in "
            "Python; give it `compiled`, or take method='dfsdca'."
        )


def require_built_in(method: str, problem: Problem) -> None:
    """A built-in loss, whose curvature is known."""
    if not isinstance(problem.loss, BuiltIn):
        raise ValueError(
            f"{method} needs the curvature of a built-in loss, but {type(problem.loss).__name__} is not one; "
            "method='dfsdca' takes any loss."
        )


def require_fixed(method: str, sampling: Sampling) -> None:
    """Probabilities that do not change during the run."""
    if sampling.adapts:
        raise ValueError(
            f"{method} rests on fixed probabilities, but those of sampling={sampling!r} change during the run; "
            "method='dfsdca' and method='adasdca' take it."
        )
