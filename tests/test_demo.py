"""The demonstration, on a small stand-in."""

import csv

import pytest

from dualfree import demo, plots
from dualfree.cli.demo import present
from dualfree.result import Status


@pytest.fixture(scope="module")
def runs():
    return demo.run(demo.data(n=300))


def test_each_sampling_converges_within_its_promise(runs):
    assert [run.name for run in runs] == list(demo.NAMES)
    for run in runs:
        assert run.result.status == "converged"
        assert run.result.bound.covered == (run.name != "shuffled")
        if run.result.bound.covered:
            assert run.result.epochs <= run.result.bound.epochs


def test_the_promised_rate_is_that_of_the_theorem(runs):
    rates = {run.name: run.curve.rate for run in runs}
    assert rates["shuffled"] is None
    assert rates["uniform"] == pytest.approx(runs[0].result.bound.theta * 300)


def test_output_says_loudly_that_it_is_a_stand_in(tmp_path, capsys):
    present(tmp_path / "new" / "folder", n=300)
    shown = capsys.readouterr().out
    assert shown.count("STAND-IN") == 2
    assert "NOT numbers of the real w8a" in shown
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == ["convergence.csv", "convergence.png"]
    assert (folder / "convergence.png").read_bytes().startswith(b"\x89PNG")
    with open(folder / "convergence.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["sampling"] for row in rows} == set(demo.NAMES)
    assert all("STAND-IN" in row["data"] for row in rows)
    last = [row for row in rows if row["sampling"] == "shuffled"][-1]
    assert float(last["relative_gap"]) <= demo.TOL


def test_without_matplotlib_all_else_is_done(tmp_path, capsys, monkeypatch):
    def missing(module, extra):
        raise ImportError(f'{module} is not installed; pip install "dualfree[{extra}]" brings it.')

    monkeypatch.setattr(plots, "require", missing)
    present(tmp_path, n=300)
    shown = capsys.readouterr()
    assert 'pip install "dualfree[plots]"' in shown.err
    assert [path.name for path in tmp_path.iterdir()] == ["convergence.csv"]


def test_after_an_interruption_no_further_run_starts():
    def watch(name):
        def stop(row):
            if row.epoch >= 1:
                raise KeyboardInterrupt

        return stop

    runs = demo.run(demo.data(n=300), watch)
    assert [run.result.status for run in runs] == [Status.INTERRUPTED]
