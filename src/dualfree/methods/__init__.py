"""Methods: each turns the sets that a sampling draws into steps. One file a family."""

from dualfree.methods.base import Method, State
from dualfree.methods.dfsdca import DfSDCA
from dualfree.methods.newton import LBFGS, Newton

METHODS: dict[str, type[Method]] = {"dfsdca": DfSDCA, "newton": Newton, "lbfgs": LBFGS}

__all__ = ["METHODS", "Method", "State"]
