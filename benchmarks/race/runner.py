"""One cell after the other: who takes part, P*, exploring, then repeats in turns; each is saved when it is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.optimum import SECONDS as OPTIMUM_SECONDS
from benchmarks.peers import Peer
from benchmarks.race.rule import Attempt, FitFailed, Record, explore, rounds
from benchmarks.race.store import Outcome, Store
from benchmarks.race.worker import About, Cell

Tell = Callable[[str], None]


class Fitter(Protocol):
    """What the race asks of a worker."""

    def ask(self, seconds: float, action: str, /, *arguments: object) -> object: ...

    def run(self, cell: Cell, name: str, attempt: Attempt, limit: float, /) -> None: ...


@dataclass
class Race:
    """The solvers that take part, where results go, and how long one solver may explore one cell."""

    peers: Mapping[str, Peer]
    stamps: Mapping[str, str]
    store: Store
    worker: Fitter
    limit: float
    tell: Tell = lambda text: None
    step: Callable[[], None] = lambda: None  # called when a solver has explored a cell, or need not

    def run(self, cell: Cell) -> Outcome:
        """Run the solvers whose answers the store does not hold, and save."""
        outcome = self.store.load(cell)
        kept = outcome or Outcome(cell, self._about(cell))
        able = [name for name, peer in self.peers.items() if cell.loss in peer.losses]
        wanted = [name for name in able if not kept.is_current(name, self.stamps[name])]
        for _ in range(len(able) - len(wanted)):
            self.step()
        if wanted:
            self._race(kept, self._entrants(kept, wanted))
            self.store.save(kept)
        return kept

    def _about(self, cell: Cell) -> About:
        self.tell(f"{cell}: P* by two methods")
        found = self.worker.ask(10 * OPTIMUM_SECONDS, "about", cell)
        if not isinstance(found, About):
            raise TypeError(f"The worker answered {found!r:.60} where the facts of a cell were asked.")
        return found

    def _entrants(self, outcome: Outcome, wanted: Sequence[str]) -> list[str]:
        entrants = []
        for name in wanted:
            reason = self.worker.ask(300.0, "skips", outcome.cell, name)
            if reason is None:
                entrants.append(name)
            else:
                outcome.note(name, self.stamps[name], skipped=str(reason))
                self.step()
        return entrants

    def _race(self, outcome: Outcome, entrants: Sequence[str]) -> None:
        cell, best = outcome.cell, outcome.about.optimum.value
        records: dict[str, Record] = {}

        def run(name: str, attempt: Attempt, limit: float) -> None:
            self.tell(f"{cell}: {name} at {attempt.tol:g}")
            self.worker.run(cell, name, attempt, limit)

        for name in entrants:
            records[name] = Record()
            explore(name, self.peers[name].grid, best, self.limit, run, records[name])
            self.step()
        failed: set[str] = set()
        for present in rounds(records, best):
            for name, attempt in present:
                if name in failed:
                    continue
                try:
                    run(name, attempt, self.limit)
                except FitFailed as failure:
                    records[name].ended = f"{failure}, in a repeat"
                    failed.add(name)
        for name in entrants:
            outcome.note(name, self.stamps[name], record=records[name])
