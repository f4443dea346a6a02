"""The race's rule, its memory, and its patience, with solvers that only pretend."""

import dataclasses

import pytest
from benchmarks.optimum import Optimum
from benchmarks.peers import Peer
from benchmarks.race import worker
from benchmarks.race.rule import MOST, TARGETS, Attempt, FitFailed, Record, explore, repeats, rounds, worth_repeating
from benchmarks.race.runner import Race
from benchmarks.race.store import Outcome, Store
from benchmarks.race.tables import markdown, notes, write_tables
from benchmarks.race.worker import About, Cell, Worker

CELL = Cell("digits", "logistic", 0.1)
ABOUT = About(10, 2, 20, "real", Optimum(1.0, 0.0, 1e-14))


class Pretender:
    """A worker whose solvers end at P* (1 + factor · tol) after seconds(tol)."""

    def __init__(self, **solvers):
        self.solvers, self.asked = solvers, []

    def ask(self, seconds, action, *arguments):
        return ABOUT if action == "about" else None

    def run(self, cell, name, attempt, limit):
        self.asked.append((name, attempt.tol))
        seconds, factor = self.solvers[name](attempt.tol)
        if seconds > limit:
            raise FitFailed(f"ended after {limit:.0f} s")
        attempt.add(seconds, 1 + factor * attempt.tol, seconds)


def quick(tol):
    return 0.01 / tol**0.1, 0.5


def slow(tol):
    return 10 * quick(tol)[0], 0.5


def rough(tol):
    return 0.5, 1e15  # never near the optimum


def hanging(tol):
    return 1e9, 0.0


def peer(name):
    return Peer(name, "json", "numpy", lambda task, data, tol: None)


def race(tmp_path, worker, **changes):
    found = {name: peer(name) for name in worker.solvers}
    stamps = dict.fromkeys(found, "1.0; here")
    return dataclasses.replace(Race(found, stamps, Store(tmp_path), worker, limit=20.0), **changes)


def record_of(*attempts):
    return Record([Attempt(tol, seconds, value) for tol, seconds, value in attempts])


def test_the_smallest_median_over_tolerances_that_reach():
    record = record_of((1e-1, [1.0, 1.1, 1.2], 1.5), (1e-2, [9.0, 9.0, 9.0], 1.0005), (1e-3, [2.0, 4.0, 3.0], 1.0))
    assert record.seconds_to(1.0, 1e-3) == 3.0  # the tighter tolerance was quicker
    assert record.seconds_to(1.0, 1.0) == 1.1
    assert record_of((1e-1, [1.0], 1.5)).seconds_to(1.0, 1e-3) is None


def test_the_worst_repeat_counts():
    attempt = Attempt(0.1)
    attempt.add(1.0, 1.0, 1.0)
    attempt.add(1.0, 1.1, 1.0)
    assert not attempt.reaches(1.0, 1e-3)


def test_exploring_goes_to_the_tightest_target_and_in_between():
    worker, record = Pretender(quick=quick), Record()
    explore("quick", [10.0**-k for k in range(1, 13)], 1.0, 20.0, lambda *a: worker.run(CELL, *a), record)
    tols = [attempt.tol for attempt in record.attempts]
    assert tols[:9] == [10.0**-k for k in range(1, 10)]  # 0.5e-9 reaches 1e-9; nothing tighter is tried
    assert tols[9:] == pytest.approx([3.16e-3, 3.16e-6, 3.16e-9])
    assert record.ended == "reached the tightest target"


def test_exploring_ends_with_the_time():
    worker, record = Pretender(rough=rough), Record()
    explore("rough", [10.0**-k for k in range(1, 13)], 1.0, 2.0, lambda *a: worker.run(CELL, *a), record)
    assert len(record.attempts) == 4
    assert record.ended == "time limit of 2 s"


def test_repeats_and_turns():
    assert repeats(1e-4) == MOST
    assert repeats(100.0) == 3
    records = {"a": record_of((1e-1, [0.4], 1.0)), "b": record_of((1e-1, [0.2], 1.0)), "c": record_of((1, [1.0], 9.0))}
    turns = [[name for name, _ in present] for present in rounds(records, 1.0)]
    assert turns == [["a", "b"], ["a", "b"], ["b"], ["b"]]  # c reached nothing and need not be repeated
    assert worth_repeating(records["c"], 1.0) == []
    for seconds, close in ((1.0, 1), (0.01, 2)):  # a short run may have been slow by chance
        record = Record([Attempt(1e-9, [seconds], 1.0), Attempt(1e-10, [1.8 * seconds], 1.0)])
        assert len(worth_repeating(record, 1.0)) == close


def test_a_race_is_saved_and_not_run_again(tmp_path):
    pretender = Pretender(dualfree=quick, slow=slow, hanging=hanging, rough=rough)
    outcome = race(tmp_path, pretender).run(CELL)
    assert outcome.ratio(1e-6) == pytest.approx(10)
    assert outcome.best_peer(1e-6)[0] == "slow"
    assert outcome.records["hanging"].ended.startswith("ended after")
    assert outcome.seconds_to("rough", 1e-3) is None
    asked = len(pretender.asked)
    again = race(tmp_path, pretender).run(CELL)
    assert len(pretender.asked) == asked
    assert again == outcome


def test_only_what_is_new_runs_on_resuming(tmp_path):
    race(tmp_path, Pretender(dualfree=quick, slow=slow)).run(CELL)
    more = Pretender(dualfree=quick, slow=slow, rough=rough)
    race(tmp_path, more).run(CELL)
    assert {name for name, _ in more.asked} == {"rough"}
    newer = Pretender(dualfree=quick, slow=slow, rough=rough)
    stamps = {"dualfree": "1.1; here", "slow": "1.0; here", "rough": "1.0; here"}
    outcome = race(tmp_path, newer, stamps=stamps).run(CELL)
    assert {name for name, _ in newer.asked} == {"dualfree"}
    assert set(outcome.records) == {"dualfree", "slow", "rough"}


def test_failing_in_a_repeat_keeps_the_rest(tmp_path):
    class Failing(Pretender):
        def run(self, cell, name, attempt, limit):
            if name == "slow" and attempt.seconds:
                raise FitFailed("crashed (exit code -11)")
            super().run(cell, name, attempt, limit)

    outcome = race(tmp_path, Failing(dualfree=quick, slow=slow)).run(CELL)
    assert outcome.records["slow"].ended == "crashed (exit code -11), in a repeat"
    assert len(outcome.records["dualfree"].reaching(1.0, TARGETS[0])[0].seconds) >= 3


def test_a_solver_without_the_loss_is_not_asked(tmp_path):
    pretender = Pretender(dualfree=quick)
    assert race(tmp_path, pretender).run(dataclasses.replace(CELL, loss="squared")).records == {}
    assert pretender.asked == []


def test_tables_say_what_was_not_reached(tmp_path):
    outcome = Outcome(CELL, ABOUT)
    outcome.note("dualfree", "here", record_of((1e-1, [0.5], 1.0)))
    outcome.note("rough", "here", record_of((1e-1, [0.1], 2.0)))
    outcome.note("absent", "here", skipped="it takes dense X only")
    text = markdown([outcome], ["# Title"])
    assert "| rough | not reached | not reached | not reached |" in text
    assert "| absent | - | - | - | skipped: it takes dense X only |" in text
    write_tables(tmp_path, [outcome], ["# Title"])
    assert (tmp_path / "times.csv").read_text().count("not reached") == 3
    assert "rough,0.1,1,0.1,1.000e+00" in (tmp_path / "runs.csv").read_text()


def test_doubts_are_said():
    unsure = dataclasses.replace(ABOUT, optimum=Optimum(1.0, 1e-8, 1e-8))
    outcome = Outcome(CELL, unsure)
    greedy = Attempt(1e-1, [1.0], 0.9, processor_seconds=2.0)
    outcome.note("greedy", "here", Record([greedy]))
    assert outcome.best == 0.9
    said = " ".join(notes([outcome]))
    assert "judges of P* differ by 1.0e-08" in said
    assert "went 1.0e-01 below" in said
    assert "greedy used 2.0 processors" in said


def test_a_worker_fits_and_survives_errors():
    helper = Worker()
    try:
        attempt = Attempt(1e-6)
        helper.run(CELL, "sklearn newton-cholesky", attempt, 60.0)
        assert attempt.seconds[0] > 0
        with pytest.raises(FitFailed, match="KeyError"):
            helper.run(CELL, "nobody", attempt, 60.0)
        with pytest.raises(FitFailed, match="ended after 0 s"):
            helper.ask(0.0, "about", Cell("tall-dense", "logistic", 0.01))
        assert helper.ask(60.0, "skips", CELL, "dualfree") is None  # a new process
    finally:
        helper.close()


def test_about_a_cell():
    found = worker.about(CELL)
    assert (found.n, found.d, found.provenance) == (1797, 64, "real")
    assert found.optimum.disagreement < 1e-11
