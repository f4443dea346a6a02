"""Checkpoints: where a run stands, in a file, so that another process can go on as if nothing had happened."""

import json
import os
import time
import warnings
import zipfile
import zlib
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualfree.arrays import positive
from dualfree.io.streams import atomic_write
from dualfree.methods.drift import Drift
from dualfree.problem import Problem
from dualfree.result import Certificate, Row
from dualfree.samplings import BoundSampling
from dualfree.steps import StepRule

if TYPE_CHECKING:
    from dualfree.loop import Run

FORMAT = 5


class CheckpointError(ValueError):
    """A file that is no checkpoint, or one of another problem."""


@dataclass
class Checkpoints:
    """Writes a run's state every so many seconds, and reads it back.

    Parameters
    ----------
    path : str or path
        The file. It is replaced in one step: at every moment it holds a whole checkpoint, the old or the new.
    every : float
        Seconds between two of them.
    resume : bool
        Whether to go on from the file, if there is one.
    fingerprint : dict
        What the run must have in common with the one that wrote the file.
    """

    path: Path
    every: float
    resume: bool
    fingerprint: dict[str, Any]

    def __post_init__(self) -> None:
        self._written = time.perf_counter()
        self._failed = False
        for half in self.path.parent.glob(f".{self.path.name}.*.partial"):  # of a process killed while it wrote
            half.unlink(missing_ok=True)
        if not (self.resume and self.path.exists()):
            self.resume = False
            return
        theirs = fingerprint_in(self.path)
        for key, mine in self.fingerprint.items():
            if theirs.get(key) != mine:
                raise CheckpointError(
                    f"checkpoint {self.path} belongs to another run: its {key} is {theirs.get(key)!r}, here it is "
                    f"{mine!r}; give another file, or resume=False to start anew and replace it."
                )

    def due(self, ahead: float) -> bool:
        """Whether it is time, if the next moment to ask is `ahead` seconds away."""
        # A very slow evaluation must not make every moment the last one before it.
        return time.perf_counter() - self._written >= max(self.every / 2, self.every - ahead)

    def save(self, run: "Run") -> None:
        """Write; where the disk is full, say so once and let the run go on, with the older checkpoint as it was."""
        try:
            with atomic_write(self.path) as file:
                _pack(file, run, self.fingerprint)
        except OSError as error:
            if not self._failed:
                warnings.warn(
                    f"{self.path} could not be written ({error.strerror}); the run goes on, and an older checkpoint "
                    "stays as it was.",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._failed = True
        self._written = time.perf_counter()

    def restore(self, run: "Run") -> None:
        """Put the run where the file says, if it is to be resumed."""
        if not self.resume:
            return
        said, arrays = _unpacked(self.path)
        state = run.state
        state.w[:], state.alpha[:] = arrays["w"], arrays["alpha"]
        state.iteration, state.moved, state.drift = said["iteration"], said["moved"], Drift(*said["drift"])
        state.centre = np.array(said["centre"]) if isinstance(said["centre"], list) else said["centre"]
        state.memory = {name[7:]: array for name, array in arrays.items() if name.startswith("memory.")}
        run.sampling.recall({name[9:]: array for name, array in arrays.items() if name.startswith("sampling.")})
        run.history.rows[:] = [Row(*row) for row in said["history"]]
        run.best = (arrays["best.w"], arrays["best.alpha"], Certificate(**said["certificate"]))
        run.seconds, run.start_potential, run.piece = said["seconds"], said["start_potential"], said["piece"]
        run.heading, run.target = said["heading"], said["target"]
        if run.lookout is not None and said["lookout"] is not None:
            run.lookout.restore(said["lookout"])
        run.method.take_up(state)


def checkpoints(
    path: str | os.PathLike[str] | None,
    every: float,
    resume: bool,
    method: str,
    resumable: bool,
    seed: int,
    bound: BoundSampling,
    rule: StepRule,
    evaluate_every: float | None,
) -> Checkpoints | None:
    """What `solve` was asked for, checked before any work; None where it was not asked for."""
    target, every = requested(path, every, resume)
    if target is None:
        return None
    if not resumable:
        raise ValueError(
            f"checkpoint is given, but method={method!r} remembers what no file can hold; method='dfsdca' does not."
        )
    if rule.name == "rescaled":
        raise ValueError(
            "checkpoint is given, but a run with step='rescaled' does not end at the same bits when it was stopped in "
            "between; take step='nearly-implicit'."
        )
    fingerprint = fingerprint_of(bound.problem) | {
        "method": method,
        "sampling": repr(bound.sampling),
        "step": rule.name,
        "seed": seed,
        "evaluate_every": evaluate_every,
    }
    return Checkpoints(target, every, bool(resume), fingerprint)


def requested(path: Any, every: Any, resume: Any) -> tuple[Path | None, float]:
    """The file and the seconds that the three arguments ask for, which are the same wherever there are checkpoints."""
    every = positive("checkpoint_every", every)
    if not isinstance(resume, (bool, np.bool_)):
        raise TypeError(f"resume is {resume!r:.60}; it must be True or False, and checkpoint names the file.")
    if path is None:
        if resume:
            raise ValueError("resume is True, but there is no checkpoint to resume from; give checkpoint=path too.")
        return None, every
    target = Path(path)
    if not target.resolve().parent.is_dir() or target.is_dir():
        raise ValueError(f"checkpoint is {os.fspath(path)!r}; it must be a file in a folder that exists.")
    return target, every


def fingerprint_in(path: Path) -> dict[str, Any]:
    """What a file says that the run which wrote it was."""
    known: dict[str, Any] = _unpacked(path, arrays=False)[0]["fingerprint"]
    return known


def fingerprint_of(problem: Problem) -> dict[str, Any]:
    """What two runs of one problem have in common."""
    loss: Any = problem.loss
    return {
        "number of examples": problem.n,
        "number of features": problem.d,
        "number of nonzeros": int(problem.examples.stored),
        "lam": problem.lam,
        "intercept": problem.intercept,
        "regulariser": repr(problem.regulariser),
        "loss": type(loss).__name__,
        "loss's parameters": list(getattr(loss, "parameters", ())),
        "checksum of y": zlib.crc32(loss.y.data),
        "checksum of the weights": None if loss.weight is None else zlib.crc32(loss.weight.data),
    }


def _pack(file: IO[bytes], run: "Run", fingerprint: dict[str, Any]) -> None:
    state, (w, alpha, proof) = run.state, run.best
    said = {
        "format": FORMAT,
        "fingerprint": fingerprint,
        "iteration": state.iteration,
        "centre": np.asarray(state.centre).tolist(),
        "moved": state.moved,
        "drift": astuple(state.drift),
        "seconds": run.seconds,
        "start_potential": run.start_potential,
        "piece": run.piece,
        "heading": run.heading,
        "target": run.target,
        "history": list(run.history),
        "certificate": proof._asdict(),
        "lookout": None if run.lookout is None else run.lookout.state(),
    }
    arrays: dict[str, Any] = {"w": state.w, "alpha": state.alpha, "best.w": w, "best.alpha": alpha}
    arrays |= {f"memory.{name}": array for name, array in state.memory.items()}
    arrays |= {f"sampling.{name}": array for name, array in run.sampling.memory.items()}
    np.savez(file, dualfree_checkpoint=np.array(json.dumps(said)), **arrays)


def _unpacked(path: Path, arrays: bool = True) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            said = json.loads(str(file["dualfree_checkpoint"]))
            wanted = [name for name in file.files if name != "dualfree_checkpoint"] if arrays else []
            found, contents = said["format"], {name: file[name] for name in wanted}
    except (ValueError, KeyError, TypeError, EOFError, AttributeError, zlib.error, zipfile.BadZipFile):
        raise CheckpointError(f"{path} is not a dualfree checkpoint, or it is damaged.") from None
    if found != FORMAT:
        raise CheckpointError(f"{path} has checkpoint format {found}; this dualfree reads format {FORMAT}.")
    return said, contents
