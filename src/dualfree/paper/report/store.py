"""Results on disk, found again by the hash of the settings that they came from."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import dualfree
from dualfree.io.streams import atomic_write
from dualfree.paper.report.parts import Experiment, Raw, Watch


def key(experiment: Experiment) -> str:
    """Twelve hexadecimal digits that change with any setting, and with the version of the package.

    Examples
    --------
    >>> one, same, other = (Experiment("a", {"tau": tau}, lambda watch: {}) for tau in (5, 5, 6))
    >>> key(one) == key(same), key(one) == key(other)
    (True, False)
    """
    text = json.dumps([dualfree.__version__, experiment.name, dict(experiment.settings)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Store:
    """A folder of results, one JSON file an experiment.

    Attributes
    ----------
    computed : list of str
        Names of the experiments that were not found and had to be run.
    seconds : float
        What computing all fetched results took, now or earlier.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.computed: list[str] = []
        self.seconds = 0.0
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, experiment: Experiment) -> Path:
        """Where its results are, once they are there."""
        return self.folder / f"{experiment.name}-{key(experiment)}.json"

    def fetch(self, experiment: Experiment, watch: Watch) -> Raw:
        """The results: read if they are there, else computed and written. An interrupted computation leaves nothing."""
        found = self._read(experiment)
        if found is None:
            begun = time.perf_counter()
            raw = experiment.compute(watch)
            found = {
                "settings": dict(experiment.settings),
                "seconds": time.perf_counter() - begun,
                "raw": raw,
            }
            with atomic_write(self.path(experiment)) as file:
                file.write(json.dumps(found).encode())
            self.computed.append(experiment.name)
            found = json.loads(json.dumps(found))  # the same types, whether computed or read
        self.seconds += found["seconds"]
        return dict(found["raw"])

    def _read(self, experiment: Experiment) -> dict[str, Any] | None:
        try:
            found = json.loads(self.path(experiment).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found if isinstance(found, dict) and {"seconds", "raw"} <= set(found) else None
