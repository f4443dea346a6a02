"""`import_files`: text and tables into a store, in bounded memory, shuffled on the way.

First each row goes to a bucket drawn for it alone; then each bucket, small enough for memory, is shuffled and appended
to the store. Which row ends where depends on the seed and on the number of the row, so that an import that was stopped
and taken up again writes the same bytes as one that was not.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualfree.arrays import whole
from dualfree.io.tables import is_table
from dualfree.store.buckets import Buckets
from dualfree.store.journal import Journal
from dualfree.store.layout import is_store
from dualfree.store.opened import Store, open_store
from dualfree.store.sources import blocks, identity
from dualfree.store.writer import StorePlan, StoreWriter, Written

_NOTE_SECONDS = 10.0
_INT32_MAX = np.iinfo(np.int32).max
_MOST_CLASSES = 10_000

Progress = Callable[[float, str], None]  # the part of the work that is done, and what is being done


def import_files(
    files: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    label: str | int | None = None,
    dtype: str = "float64",
    seed: int = 0,
    progress: Progress | None = None,
) -> Store:
    r"""Write a store from LIBSVM text, CSV or Parquet files, plain or compressed, and open it.

    Parameters
    ----------
    files : list of paths
        All LIBSVM text, or all tables with the same columns. What a file is, its name tells, as for `dualfree.io.read`.
    output : path
        The folder to write. It appears once the store is complete; until then the work is in ``output.partial``. After
        an interruption, a crash or a full disk the same call goes on from there.
    label : str or int, optional
        The label's column in tables, see `dualfree.io.read_table`.
    dtype : {"float64", "float32"}
        Of the values in the store.
    seed : int
        Of the order of the rows.
    progress : callable, optional
        Called now and then with the part of the work that is done and with what is being done.

    Notes
    -----
    Memory: some hundred megabytes, whatever the size of the data. Disk: the store, and before it the same amount once
    more for the buckets.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.csv").write_text("size,label\n1,cat\n2,dog\n3,cat\n")
    ...     store = import_files([folder + "/a.csv"], folder + "/a.dfs")
    ...     print(store.shape, sorted(store.y.tolist()))
    (3, 1) ['cat', 'cat', 'dog']
    """
    if isinstance(files, (str, os.PathLike)):
        raise TypeError(f"files is {files!r:.60}; it must be a list of files.")
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype is {dtype!r}; it must be 'float64' or 'float32'.")
    work = Import([Path(file) for file in files], Path(output), label, dtype, whole("seed", seed, 0, 2**64 - 1))
    return work.run(progress or (lambda done, doing: None))


class Import:
    """One import, under way or to be taken up again."""

    def __init__(self, files: list[Path], output: Path, label: Any, dtype: str, seed: int) -> None:
        self.files, self.output, self.label, self.dtype, self.seed = files, output, label, dtype, seed
        self.folder = output.with_name(output.name + ".partial")
        self.journal = Journal(self.folder)
        if not files:
            raise ValueError("files is empty; there must be at least one file to import.")
        if output.exists():
            raise ValueError(f"{output} exists already; delete it or write to another place.")
        tables = [is_table(file) for file in files]
        if any(tables) and not all(tables):
            raise ValueError(f"{files[tables.index(True)]} is a table and {files[tables.index(False)]} is not.")
        self.request = {
            "files": [identity(file) for file in files], "label": label, "dtype": dtype, "seed": seed,
        }  # fmt: skip

    def run(self, progress: Progress) -> Store:
        """Do what is left to do."""
        if is_store(self.folder) and self.journal.load() is None:  # all but the last step was done
            return self._done()
        state = self._begin()
        try:
            if state["phase"] == "scatter":
                state = self._scatter(state, progress)
            self._gather(state, progress)
        except OSError as error:
            said = f"{error.strerror}; what is done so far stays in {self.folder}, and the same import goes on from it"
            raise OSError(error.errno, said, error.filename) from None
        self.journal.remove()
        return self._done()

    def _done(self) -> Store:
        os.rename(self.folder, self.output)
        return open_store(self.output)

    def _begin(self) -> dict[str, Any]:
        self.folder.mkdir(exist_ok=True)
        state = self.journal.load()
        if state is not None and state["request"] != self.request:
            raise ValueError(
                f"{self.folder} holds part of an import of other files or with other settings; "
                "delete it, or write to another place."
            )
        if state is None:
            known = ("bucket-", "journal", ".journal")
            if any(not path.name.startswith(known) and path.suffix != ".npy" for path in self.folder.iterdir()):
                raise ValueError(f"{self.folder} is in the way: it is not part of an import; move it.")
            shutil.rmtree(self.folder)
            self.folder.mkdir()
            state = {
                "request": self.request, "phase": "scatter", "file": 0, "position": {}, "rows": 0, "stored": 0,
                "lowest": 1, "highest": -1, "layout": "csr", "names": None, "classes": None,
                "buckets": Buckets.count_for(self.files),
            }  # fmt: skip
            self.journal.save(state, [])
        return state

    def _scatter(self, state: dict[str, Any], progress: Progress) -> dict[str, Any]:
        """Rows into buckets, with a note every few seconds."""
        buckets = Buckets(self.folder, state["buckets"], self.seed)
        noted = time.monotonic()
        while state["file"] < len(self.files):
            path = self.files[state["file"]]
            for block in blocks(path, state["position"], self.label):
                labels = self._take(state, path, block)
                buckets.scatter(block.X, labels, state["rows"])
                state["rows"] += block.X.shape[0]
                state["stored"] += block.X.size
                state["position"] = block.position
                progress(0.6 * (state["file"] + block.fraction) / len(self.files), f"reading {path.name}")
                if time.monotonic() - noted > _NOTE_SECONDS:
                    self.journal.save(state, buckets.files())
                    noted = time.monotonic()
            state |= {"file": state["file"] + 1, "position": {}}
        if state["rows"] == 0:
            raise ValueError(f"{self.files[0]}: expected at least one example, found none.")
        state |= {"phase": "gather", "bucket": 0, "written": None}
        self.journal.save(state, buckets.files())
        return state

    def _take(self, state: dict[str, Any], path: Path, block: Any) -> Any:
        """Note what a block tells of the whole, and turn text labels into numbers."""
        if block.feature_names is not None:
            if state["names"] not in (None, block.feature_names):
                raise ValueError(f"{path} has other columns than {self.files[0]}; all tables must have the same.")
            state |= {"names": block.feature_names, "layout": "dense"}
        else:
            state["lowest"] = min(state["lowest"], block.lowest)
            state["highest"] = max(state["highest"], block.highest)
        if block.labels.dtype.kind == "f":
            if state["classes"] is not None:
                raise ValueError(f"{path} has numbers as labels and {self.files[0]} has text.")
            return block.labels
        if state["rows"] and state["classes"] is None:
            raise ValueError(f"{path} has text as labels and {self.files[0]} has numbers.")
        known = {text: k for k, text in enumerate(state["classes"] or [])}
        codes = [float(known.setdefault(text, len(known))) for text in block.labels.tolist()]
        if len(known) > _MOST_CLASSES:
            raise ValueError(f"{path} has more than {_MOST_CLASSES} different labels; is another column the label?")
        state["classes"] = list(known)
        return np.array(codes)

    def _gather(self, state: dict[str, Any], progress: Progress) -> None:
        """Buckets into the store, shuffled, with a note after each."""
        buckets = Buckets(self.folder, state["buckets"], self.seed)
        base = 0 if state["lowest"] == 0 else 1
        written = None if state["written"] is None else Written(**state["written"])
        writer = StoreWriter(self.folder, self._plan(state, base), written)
        for number in range(state["bucket"], buckets.count):
            rows = buckets.gather(number, writer.plan, base)
            if rows is not None:
                writer.add(*rows)
            state |= {"bucket": number + 1, "written": writer.state()}
            self.journal.save(state, [*writer.files(), *buckets.files(number + 1)])
            buckets.remove(number)
            progress(0.6 + 0.4 * (number + 1) / buckets.count, "shuffling")
        writer.finish()

    def _plan(self, state: dict[str, Any], base: int) -> StorePlan:
        dense = state["layout"] == "dense"
        d = len(state["names"]) if dense else state["highest"] + 1 - base
        if d < 1:
            raise ValueError(f"{self.files[0]}: expected at least one feature, found none.")
        names, classes = state["names"], state["classes"]
        return StorePlan(
            state["layout"], state["rows"], d, state["stored"], self.dtype,
            "int64" if d > _INT32_MAX else "int32",
            None if classes is None else tuple(classes), None if names is None else tuple(names),
            shuffle=(self.seed, state["buckets"]),
        )  # fmt: skip
