"""From a name to a file: a folder of the user's, the cache, or a download into the cache."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pooch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dualfree.datasets.registry import Entry
from dualfree.io.libsvm import read_libsvm
from dualfree.io.libsvm_writer import write_libsvm

Provenance: TypeAlias = Literal["real", "reconstructed", "stand-in"]

_SUFFIXES = (".svm", ".svm.xz", ".svm.gz", ".svm.bz2")


class DatasetUnavailable(OSError):  # noqa: N818
    """A dataset that is in none of the places where it could be."""


class DatasetMismatch(ValueError):  # noqa: N818
    """A file that is not what its name promises."""


def cache_folder() -> Path:
    """Return where downloads are kept: ``DUALFREE_CACHE``, or the usual place of the operating system."""
    return Path(os.environ.get("DUALFREE_CACHE") or pooch.os_cache("dualfree"))


def find_file(name: str) -> Path | None:
    """Return the file of a dataset in ``DUALFREE_DATA`` or in the cache, in this order."""
    given = os.environ.get("DUALFREE_DATA")
    folders = ([Path(given)] if given else []) + [cache_folder()]
    candidates = (folder / (name + suffix) for folder in folders for suffix in _SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)


def read_checked(entry: Entry, path: Path) -> tuple[csr_matrix, NDArray[np.float64], Provenance]:
    """Read `path`, make sure that it is the dataset, and tell the original from its reconstruction."""
    _check_remembered(path)
    X, y = read_libsvm(path, n_features=entry.d)
    known = [entry.nnz] + ([entry.reconstruction.nnz] if entry.reconstruction else [])
    if X.shape[0] != entry.n or X.nnz not in known:
        raise DatasetMismatch(
            f"{path} is not {entry.name}: expected {entry.n} rows and {' or '.join(map(str, known))} "
            f"nonzeros, found {X.shape[0]} and {X.nnz}."
        )
    labels, counts = np.unique(y, return_counts=True)
    found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    # Where the original's counts are not known for certain, its labels still are.
    if found != entry.classes and (entry.reconstruction is None or found.keys() != entry.classes.keys()):
        raise DatasetMismatch(
            f"{path} is not {entry.name}: expected the labels {entry.classes}, found {found}."
        )
    return X, y, _provenance(entry, X, y)


def _provenance(entry: Entry, X: csr_matrix, y: NDArray[np.float64]) -> Provenance:
    remade = entry.reconstruction
    if remade is None or X.nnz != remade.nnz:
        return "real"
    same = remade.fingerprint is None or remade.fingerprint == fingerprint(X, y)
    return "reconstructed" if same else "real"


def fingerprint(X: csr_matrix, y: NDArray[np.float64]) -> str:
    """Return a SHA-256 of what a file says, however it is formatted or compressed.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> fingerprint(csr_matrix(np.eye(2)), np.ones(2))[:8]
    '03ef852a'
    """
    digest = hashlib.sha256()
    for array, dtype in ((X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8"), (y, "<f8")):
        digest.update(np.ascontiguousarray(array, dtype=dtype).data)
    return digest.hexdigest()


def download(entry: Entry) -> Path:
    """Fetch a dataset from its public home into the cache, where it appears only complete and checked."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=f".{entry.name}-") as staging:
            parts = [_retrieve(url, staging) for url in entry.urls]
            staged = _convert_index_lists(*parts) if len(parts) == 2 else parts[0]
            read_checked(entry, staged)
            target = cache / f"{entry.name}.svm{staged.suffix if staged.suffix in ('.bz2', '.xz') else ''}"
            _remember(staged, target)
            os.replace(staged, target)
    except OSError as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise DatasetUnavailable(
            f"{entry.name} is neither in the folder that DUALFREE_DATA names "
            f"({os.environ.get('DUALFREE_DATA') or 'not set'}) nor in the cache ({cache}), and it cannot be "
            f"fetched from {entry.urls[0]} ({reason}); set DUALFREE_DATA to a folder with {entry.name}.svm, "
            "or pass standin=True for generated data of the same shape."
        ) from error
    except ValueError as error:
        raise DatasetMismatch(f"What {entry.urls[0]} sent is not {entry.name}: {error}") from error
    return target


def _retrieve(url: str, folder: str) -> Path:
    # Its log would ask the reader to note the checksum, which is done here.
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        return Path(pooch.retrieve(url, known_hash=None, fname=url.rsplit("/", 1)[1], path=folder))
    finally:
        logger.setLevel(level)


def _convert_index_lists(data: Path, labels: Path) -> Path:
    """Turn UCI's form (a line of feature numbers an example, labels apart; all values 1) into LIBSVM text."""
    rows: list[NDArray[Any]] = [
        np.array(line.split(), dtype=np.int32) for line in data.read_text().splitlines()
    ]
    columns = np.concatenate(rows) - 1
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])]).astype(np.int32)
    target = data.with_suffix(".svm.xz")
    write_libsvm(target, csr_matrix((np.ones(columns.size), columns, indptr)), np.loadtxt(labels))
    return target


def _remembered(target: Path) -> Path:
    return target.with_name(target.name + ".sha256")


def _remember(staged: Path, target: Path) -> None:
    """Note the checksum before the file appears: a note without a file does no harm, the reverse would."""
    note = staged.with_suffix(".sha256")
    note.write_text(f"{pooch.file_hash(str(staged))}  {target.name}\n")
    os.replace(note, _remembered(target))


def _check_remembered(path: Path) -> None:
    note = _remembered(path)
    if note.is_file() and note.read_text().split()[0] != pooch.file_hash(str(path)):
        raise DatasetMismatch(f"{path} has changed since it was downloaded; delete it to download it again.")
