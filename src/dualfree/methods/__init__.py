"""Methods: each turns the sets that a sampling draws into steps. One file a family."""

from dualfree.methods.accelerated import AccProxSDCA
from dualfree.methods.adasdca import AdaSDCA
from dualfree.methods.alpha import Alpha
from dualfree.methods.anchored import MS2GD, S2GD, SVRG
from dualfree.methods.asdca import ASDCA
from dualfree.methods.averaged import SAG, SAGA
from dualfree.methods.base import About, Method, State
from dualfree.methods.copies import DfSDCACopies
from dualfree.methods.descent import UCDC, Hydra, NSync
from dualfree.methods.dfsdca import DfSDCA
from dualfree.methods.newton import LBFGS, Newton
from dualfree.methods.quartz import Quartz
from dualfree.methods.s2cd import S2CD
from dualfree.methods.sdca import SDCA, IproxSDCA, ProxSDCA
from dualfree.methods.sdna import SDNA
from dualfree.methods.sgd import SGD

METHODS: dict[str, type[Method]] = {
    "dfsdca": DfSDCA,
    "dfsdca-copies": DfSDCACopies,
    "newton": Newton,
    "lbfgs": LBFGS,
    "sgd": SGD,
    "sag": SAG,
    "saga": SAGA,
    "svrg": SVRG,
    "s2gd": S2GD,
    "ms2gd": MS2GD,
    "s2cd": S2CD,
    "sdca": SDCA,
    "prox-sdca": ProxSDCA,
    "iprox-sdca": IproxSDCA,
    "asdca": ASDCA,
    "acc-prox-sdca": AccProxSDCA,
    "adasdca": AdaSDCA,
    "sdna": SDNA,
    "quartz": Quartz,
    "nsync": NSync,
    "ucdc": UCDC,
    "alpha": Alpha,
    "hydra": Hydra,
}

__all__ = ["METHODS", "About", "Method", "State"]
