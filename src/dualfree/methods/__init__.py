"""Methods: each turns the sets that a sampling draws into steps. One file a family."""

from dualfree.methods.anchored import MS2GD, S2GD, SVRG
from dualfree.methods.averaged import SAG, SAGA
from dualfree.methods.base import About, Method, State
from dualfree.methods.dfsdca import DfSDCA
from dualfree.methods.newton import Newton
from dualfree.methods.sgd import SGD

METHODS: dict[str, type[Method]] = {
    "dfsdca": DfSDCA,
    "newton": Newton,
    "sgd": SGD,
    "sag": SAG,
    "saga": SAGA,
    "svrg": SVRG,
    "s2gd": S2GD,
    "ms2gd": MS2GD,
}

__all__ = ["METHODS", "About", "Method", "State"]
