"""A benchopt dataset by its name in `benchmarks.data`."""

from typing import Any

from benchmarks.data import load
from benchopt import BaseDataset


class NamedDataset(BaseDataset):
    """Loads the dataset that the parameter names."""

    dataset: str

    def get_data(self) -> dict[str, Any]:
        found = load(self.dataset)
        if found.provenance == "stand-in":
            print(f"{self.dataset}: a stand-in, not the real data (set DUALFREE_DATA).")
        return {"X": found.X, "y": found.y}
