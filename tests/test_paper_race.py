"""``dualfree race`` as a person types it."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from dualfree import datasets
from dualfree.cli import app
from dualfree.io import write_libsvm

pytest.importorskip("matplotlib")


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = datasets.load("w8a", standin=True, n=300).scaled()
    write_libsvm(tmp_path / "w.svm", data.X, data.y)
    return lambda *words: CliRunner().invoke(app, ["race", *map(str, words)])


def runs_of(folder):
    with (folder / "race.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_methods_times_samplings(invoke, tmp_path):
    options = [
        "--method",
        "dfsdca",
        "--method",
        "sag",
        "--method",
        "newton",
        "--sampling",
        "uniform",
        "--sampling",
        "nice:8",
    ]
    result = invoke("w.svm", *options, "--lam", "0.01", "--lam", "0.1", "--epochs", 20, "--target", 1e-6, "-o", "out")
    assert result.exit_code == 0, result.output
    rows = runs_of(tmp_path / "out")
    assert {row["run"] for row in rows} == {"dfsdca, uniform", "dfsdca, nice:8", "sag, uniform", "newton"}
    assert {row["experiment"] for row in rows} == {"race-0", "race-1"}
    assert "Left out: sag, nice:8" in result.stdout
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    assert "Who could not take part" in page
    assert (tmp_path / "out" / "race.pdf").exists()
    ends = [float(row["suboptimality"]) for row in rows if row["run"] == "newton"]
    assert min(ends) <= 1e-6
    assert float(rows[0]["suboptimality"]) == pytest.approx(1.0)
    before = sorted((tmp_path / "out" / "raw").iterdir())
    assert (
        invoke(
            "w.svm", *options, "--lam", "0.01", "--lam", "0.1", "--epochs", 20, "--target", 1e-6, "-o", "out"
        ).exit_code
        == 0
    )
    assert sorted((tmp_path / "out" / "raw").iterdir()) == before


def test_a_table_with_another_loss_and_steps(invoke, tmp_path):
    X = np.random.default_rng(2).normal(size=(60, 2))
    rows = [f"{a!r},{b!r},{3 * a - b!r}" for a, b in X.tolist()]
    (tmp_path / "r.csv").write_text("\n".join(["a,b,target", *rows]))
    result = invoke(
        "r.csv", "--loss", "huber", "--delta", "0.5", "--step", "theorem-2", "--step", "tuned", "--sampling", "uniform"
    )
    assert result.exit_code == 0, result.output
    assert {row["run"] for row in runs_of(tmp_path / "race-output")} == {
        "dfsdca, uniform, theorem-2",
        "dfsdca, uniform, tuned",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.svm"], ["nowhere.svm", "No such file"]),
        (["w.svm", "--method", "adam"], ["no method called 'adam'", "dfsdca"]),
        (["w.svm", "--sampling", "nicest:8"], ["nicest:8", "nice:NUMBER"]),
        (["w.svm", "--step", "huge"], ["None of the 3 entrants can run", "step is 'huge'"]),
        (["w.svm", "--method", "sgd", "--sampling", "nice:8"], ["None of the 1 entrants", "'uniform' or 'shuffled'"]),
        (["w.svm", "--lam", "0"], ["lam is 0.0", "above 0"]),
        (["w.svm", "--target", "2"], ["--target is 2", "between 0 and 1"]),
        (["w.svm", "--epochs", "0"], ["--epochs is 0", "above 0"]),
        (["w.svm", "-o", "w.svm"], ["w.svm is a file"]),
    ],
)
def test_mistakes_get_one_sentence(invoke, words, said):
    result = invoke(*words)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 + result.stderr.count("[1/1]"), result.stderr
    for part in said:
        assert part in result.stderr


def test_reproduce_refuses_an_unknown_figure(invoke, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", "--quick", "--figure", "figure-9", "-o", str(tmp_path / "r")])
    assert result.exit_code == 2
    assert "no figure called 'figure-9'" in result.stderr
    assert not (tmp_path / "r").exists()
