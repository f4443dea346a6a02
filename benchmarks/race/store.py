"""Results on disk, one file a cell, written when the cell is done: an interrupted run goes on from there."""

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.optimum import Optimum
from benchmarks.race.rule import Attempt, Record
from benchmarks.race.worker import About, Cell
from dualfree.io.streams import atomic_write


@dataclass
class Outcome:
    """One cell: what was solved, who did what, who did not take part and why, and when."""

    cell: Cell
    about: About
    records: dict[str, Record] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)  # solver → version and machine of its times
    dates: dict[str, str] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """P*: the smallest value that anybody found."""
        return min([self.about.optimum.value, *(record.best_value() for record in self.records.values())])

    def seconds_to(self, name: str, target: float) -> float | None:
        """A solver's time for a target, None where it is not reached."""
        return self.records[name].seconds_to(self.best, target) if name in self.records else None

    def best_peer(self, target: float) -> tuple[str, float] | None:
        """The quickest of the others and its seconds."""
        times = [(self.seconds_to(name, target), name) for name in self.records if name != "dualfree"]
        reached = sorted((seconds, name) for seconds, name in times if seconds is not None)
        return (reached[0][1], reached[0][0]) if reached else None

    def ratio(self, target: float) -> float | None:
        """The best peer's seconds divided by ours."""
        ours, peer = self.seconds_to("dualfree", target), self.best_peer(target)
        return peer[1] / ours if ours is not None and peer is not None else None

    def is_current(self, name: str, stamp: str) -> bool:
        """Whether the cell holds this solver's answer, made by this version on this machine."""
        return (name in self.records or name in self.skipped) and self.stamps.get(name) == stamp

    def note(self, name: str, stamp: str, record: Record | None = None, skipped: str | None = None) -> None:
        """Put in what one solver did, in place of what it did before."""
        self.records.pop(name, None)
        self.skipped.pop(name, None)
        if record is not None:
            self.records[name] = record
        if skipped is not None:
            self.skipped[name] = skipped
        self.stamps[name] = stamp
        self.dates[name] = datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """A folder of outcomes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.loss}_{cell.title}_{cell.lam_n:g}.json"

    def load(self, cell: Cell) -> Outcome | None:
        """What is known of a cell, or None: also where it was of another file, or of this one before it was changed."""
        path, source = self._path(cell), Path(cell.dataset)
        if not path.is_file() or (source.is_file() and source.stat().st_mtime > path.stat().st_mtime):
            return None
        known = _outcome(json.loads(path.read_text()))
        return known if known.cell == cell else None

    def save(self, outcome: Outcome) -> None:
        """Write one cell, whole or not at all."""
        path = self._path(outcome.cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(json.dumps(asdict(outcome), indent=1).encode())

    def all(self) -> list[Outcome]:
        """Every cell there is."""
        paths = sorted((self.folder / "cells").glob("*.json"))
        return [_outcome(json.loads(path.read_text())) for path in paths]


def _outcome(kept: dict[str, object]) -> Outcome:
    read = json.loads(json.dumps(kept))
    about = read["about"]
    about["optimum"] = Optimum(**about["optimum"])
    records = {
        name: Record([Attempt(**attempt) for attempt in record["attempts"]], record["ended"])
        for name, record in read["records"].items()
    }
    return Outcome(Cell(**read["cell"]), About(**about), records, read["skipped"], read["stamps"], read["dates"])
