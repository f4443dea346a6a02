"""The benchmarks of threads and of size, with a solver that only counts its threads."""

import types

import numpy as np
import pytest
from benchmarks import data, scaling, threads

matplotlib = pytest.importorskip("matplotlib")


def pretend(problem, *, n_threads=1, method="dfsdca", sampling=None, **options):
    """An answer that depends on the threads if they divide the features."""
    w = np.zeros(problem.d) if method != "auto-copies" else np.full(problem.d, float(n_threads))
    certificate = types.SimpleNamespace(relative_gap=1e-7)
    return types.SimpleNamespace(w=w, status="converged", epochs=3.0, certificate=certificate, options=options)


def test_each_mode_with_each_number_of_threads():
    found = data.load("digits")
    rows = threads.scaling_rows("digits", [1, 2], threads.scaling(found, [1, 2], "chunks:16", 2, pretend))
    assert [(row["mode"], row["threads"]) for row in rows] == [
        ("auto", 1), ("auto", 2), ("copies", 1), ("copies", 2), ("synchronous", 1), ("synchronous", 2),
    ]  # fmt: skip
    assert [row["same_bits"] for row in rows] == [True, True, True, False, True, True]
    assert rows[0]["gain"] == 1
    assert all(row["seconds"] > 0 and row["status"] == "converged" for row in rows)


def test_fits_take_turns():
    order = []

    def call(name):
        order.append(name)
        return pretend(types.SimpleNamespace(d=1))

    found = threads.timed({name: lambda name=name: call(name) for name in "ab"}, 2)
    assert order == ["a", "b", "a", "b"]
    assert set(found) == {"a", "b"}


def test_other_programs_end_with_the_benchmark(monkeypatch):
    begun, plain = [], threads.subprocess.Popen
    monkeypatch.setattr(threads.subprocess, "Popen", lambda *a: begun.append(plain(*a)) or begun[-1])
    with threads.busy(2):
        assert [other.poll() for other in begun] == [None, None]
    assert all(other.poll() is not None for other in begun)


def test_large_data_have_the_nonzeros_asked_for():
    found = threads.load("large", 300_000)
    assert 300_000 <= found.X.nnz <= 330_000
    assert found.provenance.startswith("synthetic")
    tall = threads.load("tall", 12_345)
    assert tall.X.shape == (247, 50)
    assert set(tall.y) == {-1.0, 1.0}


def test_samplings_are_those_of_the_paper(monkeypatch):
    asked = []

    def solve(problem, **options):
        asked.append((type(options["sampling"]).__name__, options["n_threads"], options["step"]))
        return pretend(problem)

    monkeypatch.setattr(threads.data, "load", lambda name: data.Data(np.eye(60), np.resize([1.0, -1.0], 60), "real"))
    assert set(threads.sampling_times("w8a", 5, 2, 1, solve)) == {"chunks", "standard"}
    assert asked == [("Chunks", 2, "theorem-2"), ("Nice", 2, "theorem-2")]


def test_scaling_measures_and_draws(tmp_path):
    rows = [scaling.measure(n, 1, pretend) for n in (200, 400)]
    assert [row["n"] for row in rows] == [200, 400]
    assert rows[1]["nonzeros"] > rows[0]["nonzeros"]
    scaling.draw(rows, tmp_path / "scaling")
    assert (tmp_path / "scaling.png").stat().st_size > 1000
    assert (tmp_path / "scaling.svg").is_file()


def test_threads_are_those_of_the_machine():
    assert threads.counts(2) == [1, 2]
