"""Buckets of rows on the disk: each row goes to one at random, and each is later read whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.store.writer import StorePlan

BUCKET_BYTES = 64 << 20
_MOST = 4096
_GROWTH = {".gz": 10, ".bz2": 12, ".xz": 14, ".parquet": 8, ".pq": 8}  # how much larger rows are than such a file


class Buckets:
    """Rows in `count` files; the bucket of a row depends on the seed and its number alone.

    A file is a sequence of ``.npy`` arrays, for each block of rows that came: labels, row lengths, columns and values,
    or labels and values where rows are dense.
    """

    def __init__(self, folder: Path, count: int, seed: int) -> None:
        self.folder, self.count, self.seed = folder, count, seed

    @staticmethod
    def count_for(files: Iterable[Path]) -> int:
        """How many buckets it takes for each to be of about `BUCKET_BYTES`."""
        size = sum(_GROWTH.get(file.suffix.lower(), 2) * file.stat().st_size for file in files)
        return min(max(1, -(-size // BUCKET_BYTES)), _MOST)

    def scatter(self, X: Any, labels: Floats, first: int) -> None:
        """Append rows, of which the first has number `first` among all."""
        drawn = kernels.draw_uniform(self.seed, first, X.shape[0], self.count)
        order = np.argsort(drawn, kind="stable")
        cuts = np.searchsorted(drawn[order], np.arange(self.count + 1))
        X, labels = X[order], labels[order]
        for bucket in np.flatnonzero(np.diff(cuts)).tolist():
            rows = slice(cuts[bucket], cuts[bucket + 1])
            with open(self._path(bucket), "ab") as file:
                for array in (labels[rows], *_arrays(X[rows])):
                    np.save(file, array)

    def gather(self, bucket: int, plan: StorePlan, base: int) -> tuple[Any, Floats] | None:
        """The rows of a bucket in random order, with columns counted from `base`; None for an empty bucket."""
        path, parts = self._path(bucket), []
        if not path.exists():
            return None
        with open(path, "rb") as file:
            size = path.stat().st_size
            while file.tell() < size:
                parts.append([np.load(file) for _ in range(2 if plan.layout == "dense" else 4)])
        labels, *arrays = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
        order = kernels.draw_permutation(self.seed, bucket, len(labels))
        if plan.layout == "dense":
            return arrays[0][order], labels[order]
        lengths, columns, values = arrays
        columns -= columns.dtype.type(base)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        X = sparse.csr_array((values, columns.astype(np.int64), indptr), shape=(len(labels), plan.d))
        return X[order], labels[order]

    def files(self, first: int = 0) -> list[Path]:
        """The files that exist, from bucket `first` on."""
        return [path for bucket in range(first, self.count) if (path := self._path(bucket)).exists()]

    def remove(self, bucket: int) -> None:
        """Delete a bucket that is no longer needed."""
        self._path(bucket).unlink(missing_ok=True)

    def _path(self, bucket: int) -> Path:
        return self.folder / f"bucket-{bucket:04d}"


def _arrays(X: Any) -> tuple[Any, ...]:
    return (np.diff(X.indptr), X.indices, X.data) if sparse.issparse(X) else (X,)
