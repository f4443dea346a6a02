"""A trained model and its file: coefficients, where they come from, and how good they are known to be."""

import io
import json
import os
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import dualfree
from dualfree.arrays import Floats
from dualfree.io.streams import Decompressed, atomic_write
from dualfree.problem import Problem
from dualfree.result import Certificate, Result

FORMAT = 1
"""Counts up whenever an older dualfree could not read what is written."""

_READ_AT_ONCE = 1 << 20


class ModelFileError(ValueError):
    """A file that is no model, or not one that this version can read."""


@dataclass(frozen=True, eq=False)
class Model:
    """A linear model ``x ↦ ⟨w, x⟩``, with all that is known of its training.

    Attributes
    ----------
    w : array of length d
        Coefficients.
    classes : array of two labels, or None
        What a negative and a positive decision mean; None for regression.
    loss, parameters : str, tuple of float
        The loss that was minimised, such as ``"smoothed-hinge"`` with its γ.
    lam : float
        λ.
    settings : dict
        Sampling, step, tolerance, seed, epochs and status of the run, as JSON has them.
    certificate : Certificate
        A bound on ``P(w) − P*``.
    feature_names : tuple of str, or None
        The table's columns, where the data had names.
    version : str
        The dualfree that trained it.

    Examples
    --------
    >>> import dualfree as df, pathlib, tempfile
    >>> X, y = np.array([[1.0, 0.0], [-1.0, 0.5]]), np.array(["yes", "no"])
    >>> problem = df.Problem(X, df.losses.Logistic(y), lam=0.1)
    >>> model = Model.of(problem, df.solve(problem))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/yes-no.model")
    ...     Model.load(folder + "/yes-no.model").predict(X).tolist()
    ['yes', 'no']
    """

    w: Floats
    classes: NDArray[Any] | None
    loss: str
    parameters: tuple[float, ...]
    lam: float
    certificate: Certificate
    settings: dict[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    version: str = dualfree.__version__

    @classmethod
    def of(
        cls, problem: Problem, result: Result, feature_names: Any = None, settings: dict[str, Any] | None = None
    ) -> "Model":
        """The model that a run found; `settings` adds to what the result knows of the run."""
        loss: Any = problem.loss
        names = ("method", "sampling", "step", "theta", "seed", "epochs", "iterations", "seconds")
        known = {name: getattr(result, name) for name in names} | {"status": str(result.status)}
        return cls(
            result.w,
            _plain(getattr(loss, "classes", None)),
            loss.kind,
            loss.parameters,
            problem.lam,
            result.certificate,
            known | (settings or {}),
            None if feature_names is None else tuple(feature_names),
        )

    @property
    def n_features(self) -> int:
        """Length of w."""
        return len(self.w)

    def decision(self, X: Any) -> Floats:
        """``⟨w, x⟩`` for each row x of X."""
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X has shape {X.shape}; the model needs {self.n_features} features in each row.")
        return np.asarray(X @ self.w, dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class of each row, or for regression the predicted number."""
        decision = self.decision(X)
        return decision if self.classes is None else self.classes[(decision > 0).astype(np.intp)]

    def probabilities(self, X: Any) -> Floats:
        """For each row the probability of ``classes[0]`` and of ``classes[1]``; for the logistic loss only."""
        if self.loss != "logistic":
            raise ValueError(f"The model was trained with the {self.loss} loss; only logistic gives probabilities.")
        decision = self.decision(X)
        return np.column_stack([expit(-decision), expit(decision)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to `path` exactly; an older file there changes only once the new one is complete."""
        header = {
            "format": FORMAT,
            "version": self.version,
            "loss": self.loss,
            "parameters": self.parameters,
            "lam": self.lam,
            "settings": self.settings,
            "certificate": self.certificate._asdict(),
            "feature_names": self.feature_names,
        }
        arrays = {"w": self.w} | ({} if self.classes is None else {"classes": self.classes})
        packed = io.BytesIO()
        np.savez(packed, dualfree_model=np.array(json.dumps(header)), **arrays)
        with atomic_write(path) as file:
            file.write(packed.getbuffer())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Read what `save` wrote. It is data and not code: nothing in the file is ever run."""
        name = os.fspath(path)
        try:
            arrays = _unpack(path)
            header = json.loads(str(arrays["dualfree_model"]))
            found = header["format"]
        except (ValueError, KeyError, TypeError, EOFError, NotImplementedError, zlib.error, zipfile.BadZipFile):
            raise ModelFileError(f"{name} is not a dualfree model, or it is damaged; train it again.") from None
        if found != FORMAT:
            raise ModelFileError(
                f"{name} has model format {found}, written by dualfree {header.get('version', 'unknown')}; "
                f"this is dualfree {dualfree.__version__}, which reads format {FORMAT}."
            )
        try:
            return _assemble(arrays, header)
        except (ValueError, KeyError, TypeError):
            raise ModelFileError(f"{name} is a dualfree model with parts missing or wrong; train it again.") from None


def _plain(classes: NDArray[Any] | None) -> NDArray[Any] | None:
    """Labels without Python objects in them, which could only be written as a pickle."""
    return np.array(classes.tolist()) if classes is not None and classes.dtype.hasobject else classes


def _unpack(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    packed = bytearray()
    piece = bytearray(_READ_AT_ONCE)
    with Decompressed(path) as stream, memoryview(piece) as view:
        while read := stream.readinto(view):
            packed += view[:read]
    # A lone .npy file makes np.load return an array, which has no "files".
    with zipfile.ZipFile(io.BytesIO(packed)):
        pass
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def _assemble(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> Model:
    w, classes, names = arrays["w"], arrays.get("classes"), header["feature_names"]
    if w.ndim != 1 or w.dtype != np.float64 or not np.isfinite(w).all():
        raise ValueError("w")
    if classes is not None and classes.shape != (2,):
        raise ValueError("classes")
    if names is not None and len(names) != len(w):
        raise ValueError("feature_names")
    return Model(
        w,
        classes,
        str(header["loss"]),
        tuple(float(parameter) for parameter in header["parameters"]),
        float(header["lam"]),
        Certificate(**header["certificate"]),
        dict(header["settings"]),
        None if names is None else tuple(str(name) for name in names),
        str(header["version"]),
    )
