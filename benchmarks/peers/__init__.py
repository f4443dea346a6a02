"""One table of all solvers: the driver and the benchopt benchmark both read it."""

import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.peers.base import LOSSES, Peer, Task

__all__ = ["LOSSES", "MODULES", "Peer", "Task", "install_failures", "peers", "peers_of"]

MODULES = ("dualfree", "scikit_learn", "scipy", "liblinear", "cyanure", "snapml", "lightning", "intelex", "skglm")


def peers_of(module: str) -> list[Peer]:
    """The solvers of one file of this folder."""
    found: list[Peer] = import_module(f"benchmarks.peers.{module}").PEERS
    return found


def peers() -> dict[str, Peer]:
    """Every solver by name, installed or not.

    Examples
    --------
    >>> list(peers())[:2]
    ['dualfree', 'sklearn liblinear']
    """
    return {peer.name: peer for module in MODULES for peer in peers_of(module)}


def install_failures() -> dict[str, str]:
    """What pip said of the peers that it could not install in this environment (see `benchmarks.environment`)."""
    note = Path(sys.prefix, "peers-not-installed.json")
    failures: dict[str, str] = json.loads(note.read_text()) if note.is_file() else {}
    return failures
