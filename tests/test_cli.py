"""The commands as a person types them."""

import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import dualfree
from dualfree import datasets
from dualfree.cli import app
from dualfree.io import write_libsvm
from dualfree.model import Model


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Run a command in an empty folder, with no dataset at hand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DUALFREE_CACHE", str(tmp_path / "no-cache"))
    for name in ("DUALFREE_DATA", "DUALFREE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def svm(tmp_path):
    data = datasets.load("w8a", standin=True, n=400).scaled()
    write_libsvm(tmp_path / "w.svm", data.X, data.y)
    return tmp_path / "w.svm"


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    kinds = np.where(X @ [1.0, -2.0, 0.5] > 0, "cat", "dog")
    rows = [f"{a!r},{b!r},{c!r},{kind}" for (a, b, c), kind in zip(X.tolist(), kinds, strict=True)]
    path = tmp_path / "pets.csv"
    path.write_text("\n".join(["size,weight,age,kind", *rows]))
    return path


def assert_error(result, *words):
    """One sentence on standard error, nothing else, and exit code 2."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


def test_version_and_help(invoke):
    assert invoke("--version").stdout == f"dualfree {dualfree.__version__}\n"
    for words in ([], ["--help"], ["train", "--help"]):
        shown = invoke(*words)
        assert shown.exit_code == 0
        assert "Usage: " in shown.stdout


def test_train_predict_evaluate_on_libsvm(invoke, svm, tmp_path):
    result = invoke("train", svm, "--test", svm)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    for words in ("400 examples", "Converged", "of the optimum", "Theorem 2", "w.model"):
        assert words in result.stdout
    assert result.stdout.count("accuracy") == 2
    model = Model.load(tmp_path / "w.model")
    assert model.settings["tol"] == 1e-6
    assert model.lam == 1 / 400

    lines = invoke("predict", "w.model", svm).stdout.split()
    assert len(lines) == 400
    assert set(lines) <= {"-1", "1"}
    assert invoke("predict", "w.model", svm, "-o", "out.txt").stdout == ""
    assert (tmp_path / "out.txt").read_text().split() == lines
    chances = np.array(invoke("predict", "w.model", svm, "--probabilities").stdout.split(), dtype=float)
    np.testing.assert_array_equal(chances > 0.5, np.array(lines) == "1")

    assert "AUC" in invoke("evaluate", "w.model", svm).stdout
    found = json.loads(invoke("evaluate", "w.model", svm, "--json").stdout)
    labels = [line.split()[0] for line in svm.read_text().splitlines()]
    assert found["accuracy"] == pytest.approx(np.mean(np.array(labels) == np.array(lines)))
    assert set(found) == {"examples", "loss", "accuracy", "log_loss", "auc"}


def test_libsvm_files_with_fewer_and_with_more_features(invoke, svm, tmp_path):
    invoke("train", svm)
    (tmp_path / "few.svm").write_text("1 1:0.5\n-1 2:1\n")
    assert len(invoke("predict", "w.model", "few.svm").stdout.split()) == 2
    (tmp_path / "many.svm").write_text("1 1:0.5 301:1\n")
    assert_error(invoke("predict", "w.model", "many.svm"), "301 features", "trained on 300")


def test_tables_are_matched_by_their_columns(invoke, table, tmp_path):
    assert invoke("train", table, "-o", "pets.model").exit_code == 0
    lines = invoke("predict", "pets.model", table).stdout.split()
    assert set(lines) == {"cat", "dog"}
    columns = [line.split(",") for line in table.read_text().splitlines()]
    for order in ([2, 0, 1], [3, 1, 0, 2]):
        (tmp_path / "other.csv").write_text("\n".join(",".join(row[i] for i in order) for row in columns))
        assert invoke("predict", "pets.model", "other.csv").stdout.split() == lines
    assert invoke("evaluate", "pets.model", "other.csv").exit_code == 0

    (tmp_path / "other.csv").write_text("\n".join(",".join(row[:3]) for row in columns))
    assert_error(invoke("evaluate", "pets.model", "other.csv"), "no column of labels")
    (tmp_path / "other.csv").write_text("\n".join(",".join(row[:2]) for row in columns))
    assert_error(invoke("predict", "pets.model", "other.csv"), "lacks", "the column age")
    (tmp_path / "other.csv").write_text("\n".join(",".join([*row, *row[:2]]) for row in columns[1:]))
    assert_error(invoke("predict", "pets.model", "other.csv"), "lacks", "size, weight, age")
    (tmp_path / "other.csv").write_text("size,weight,age,kind,id\n1,2,3,cat,9\n")
    assert_error(invoke("predict", "pets.model", "other.csv"), "the columns kind, id")


def test_regression(invoke, tmp_path):
    X = np.random.default_rng(2).normal(size=(50, 2))
    rows = [f"{a!r},{b!r},{3 * a - b!r}" for a, b in X.tolist()]
    (tmp_path / "r.csv").write_text("\n".join(["a,b,target", *rows]))
    assert_error(invoke("train", "r.csv"), "50 distinct values", "--loss squared or huber")
    result = invoke("train", "r.csv", "--loss", "huber", "--delta", "0.5", "--lam", "1e-4", "--step", "per-example")
    assert result.exit_code == 0, result.output
    assert "R² 0.99" in result.stdout or "R² 1.0" in result.stdout
    assert Model.load("r.model").parameters == (0.5,)
    found = json.loads(invoke("evaluate", "r.model", "r.csv", "--json").stdout)
    assert found["r2"] > 0.99
    assert {"mean_absolute_error", "root_mean_squared_error"} <= set(found)
    assert len(invoke("predict", "r.model", "r.csv").stdout.split()) == 50
    assert_error(invoke("predict", "r.model", "r.csv", "--probabilities"), "only logistic")
    bounded = invoke("train", "r.csv", "--loss", "tukey", "--delta", "9", "--lam", "1e-4", "-o", "t.model")
    assert bounded.exit_code == 0, bounded.output
    assert "No guarantee: P is not convex" in " ".join(bounded.stdout.split())
    assert "Relative" not in bounded.stdout
    assert Model.load("t.model").parameters == (9.0,)
    assert not Model.load("t.model").certificate.guaranteed


def test_threads_give_the_same_model_within_the_tolerance(invoke, svm, tmp_path):
    for threads in ("1", "2"):
        assert invoke("train", svm, "--threads", threads, "--tol", "1e-9", "-o", threads).exit_code == 0
    one, two = (Model.load(tmp_path / name) for name in ("1", "2"))
    assert two.certificate.relative_gap <= 1e-9
    np.testing.assert_allclose(two.w, one.w, atol=1e-3 * np.abs(one.w).max())


def test_a_run_that_does_not_converge_is_saved_with_a_warning(invoke, svm, tmp_path):
    result = invoke("train", svm, "--max-epochs", "1", "-o", "m")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: the model was saved")
    assert Model.load(tmp_path / "m").settings["status"] == "max_epochs"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "nowhere.svm"], ["nowhere.svm", "No such file"]),
        (["train", "w.svm", "--lam", "0"], ["lam is 0.0", "above 0"]),
        (["train", "w.svm", "--lam", "-1"], ["lam is -1.0"]),
        (["train", "w.svm", "--sampling", "nicest:8"], ["nicest:8", "nice:NUMBER"]),
        (["train", "w.svm", "--step", "huge"], ["step is 'huge'", "implicit"]),
        (["train", "w.svm", "--loss", "zero-one"], ["zero-one", "logistic"]),
        (["train", "w.svm", "--gamma", "1"], ["--gamma belongs to --loss smoothed-hinge"]),
        (["train", "w.svm", "--delta", "1"], ["--delta belongs to --loss huber"]),
        (["train", "w.svm", "--loss", "smoothed-hinge", "--gamma", "0"], ["gamma is 0.0"]),
        (["train", "w.svm", "--seed", "-1"], ["seed is -1"]),
        (["train", "w.svm", "--threads", "0"], ["n_threads is 0", "between 1 and 1024"]),
        (["train", "w.svm", "--threads", "2", "--cluster", "local"], ["leave --threads out"]),
        (["train", "w.svm", "-o", "no/such/m"], ["no/such/m cannot be written", "no folder"]),
        (["train", "w.svm", "-o", "."], ["it is a folder"]),
        (["train", "w.svm", "-o", "w.svm"], ["would replace an input"]),
        (["train", "w.svm", "--test", "nowhere.svm"], ["nowhere.svm"]),
        (["train", "w.svm", "--label", "y"], ["label='y' is for tables"]),
        (["train", "w.svm", "--colour"], ["No such option", "train --help"]),
        (["train"], ["Missing argument", "train --help"]),
        (["fly"], ["No such command 'fly'"]),
        (["--fly"], ["No such option"]),
        (["predict", "w.svm", "w.svm"], ["w.svm is not a dualfree model"]),
        (["plan", "w.svm", "--cores", "0"], ["cores is 0"]),
        (["datasets", "mnist", "-o", "x.svm"], ["'mnist'", "w8a"]),
        (["datasets", "w8a"], ["Give -o FILE"]),
        (["datasets", "-o", "x.svm"], ["Which dataset"]),
    ],
)
def test_mistakes_get_one_sentence(words, said, invoke, svm, tmp_path):
    before = svm.read_bytes()
    assert_error(invoke(*words), *said)
    assert svm.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["w.svm"]


def test_bad_data_get_one_sentence(invoke, tmp_path):
    (tmp_path / "three.svm").write_text("1 1:1\n2 1:2\n3 1:3\n")
    assert_error(invoke("train", "three.svm"), "3 distinct values", "squared", "huber", "two classes")
    assert_error(invoke("train", "three.svm", "--loss", "logistic"), "3 classes", "exactly two")
    (tmp_path / "nan.csv").write_text("a,b,label\n1,2,0\nnan,1,1\n")
    assert_error(invoke("train", "nan.csv"), "column 'a'", "row 2")
    (tmp_path / "broken.svm").write_text("1 1:1\n-1 2;3\n")
    assert_error(invoke("train", "broken.svm"), "line 2")
    assert not list(tmp_path.glob("*.model"))


def test_labels_that_the_model_does_not_know(invoke, svm, tmp_path):
    invoke("train", svm)
    (tmp_path / "other.svm").write_text("5 1:1\n")
    assert_error(invoke("evaluate", "w.model", "other.svm"), "a label 5.0", "-1.0 and 1.0")
    (tmp_path / "one.svm").write_text("1 1:1\n")
    assert "not defined here" in invoke("evaluate", "w.model", "one.svm").stdout


def test_debugging_shows_the_traceback(invoke, monkeypatch):
    monkeypatch.setenv("DUALFREE_DEBUG", "1")
    assert isinstance(invoke("train", "nowhere.svm").exception, FileNotFoundError)


def test_plan(invoke, svm):
    shown = invoke("plan", svm, "--cores", "4").stdout
    for name in ("uniform", "importance", "nice:4", "chunks:4", "buckets:4", "Least work: "):
        assert name in shown
    shown = invoke("plan", svm, "--sampling", "shuffled", "--sampling", "nice:2").stdout
    assert "shuffled *" in shown
    assert "no theorem covers it" in shown


def test_plan_leaves_out_what_a_small_file_cannot_have(invoke, tmp_path):
    (tmp_path / "tiny.svm").write_text("1 1:1\n-1 1:2\n1 2:1\n")
    shown = invoke("plan", "tiny.svm")
    assert shown.exit_code == 0, shown.output
    assert "nice:8" not in shown.stdout


def test_datasets(invoke, tmp_path, monkeypatch):
    shown = invoke("datasets")
    assert shown.exit_code == 0
    assert shown.stdout.count("stand-in only") == 5
    exported = invoke("datasets", "dorothea", "--standin", "-o", "d.svm.gz")
    assert "STAND-IN" in exported.stdout
    assert invoke("plan", "d.svm.gz", "--sampling", "uniform").exit_code == 0

    def unavailable(name, **options):
        raise datasets.DatasetUnavailable("it cannot be fetched; pass standin=True for generated data.")

    monkeypatch.setattr(datasets, "load", unavailable)
    assert_error(invoke("datasets", "w8a", "-o", "w.svm"), "add --standin")
    assert not (tmp_path / "w.svm").exists()


def test_as_a_module(tmp_path, svm):
    command = [sys.executable, "-m", "dualfree", "train", "w.svm", "-o", "m"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Model.load(tmp_path / "m").settings["status"] == "converged"


# A test run in the background may ignore SIGINT, and the child would inherit that.
LISTEN = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
RUN = "runpy.run_module('dualfree', run_name='__main__', alter_sys=True)"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_ctrl_c_saves_the_best_answer_so_far(tmp_path, svm):
    import pty

    ours, theirs = pty.openpty()
    # dfSDCA goes on for ever; Newton's method would be at rounding level, and done, before the signal is heard.
    options = ["train", "w.svm", "-o", "m", "--lam", "1e-12", "--tol", "0", "--max-epochs", "1e9", "--step", "implicit"]
    with subprocess.Popen(
        [sys.executable, "-c", LISTEN + RUN, *options],
        cwd=tmp_path,
        env=os.environ | {"TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as process:
        os.close(theirs)
        shown = b""
        signalled = False
        while piece := _read(ours):
            shown += piece
            if not signalled and b"relative gap" in shown:
                process.send_signal(signal.SIGINT)
                signalled = True
        output = process.communicate()[0]
    os.close(ours)
    assert process.returncode == 130
    assert "Interrupted" in output
    assert b"best answer so far is in m" in shown
    assert b"Traceback" not in shown
    assert Model.load(tmp_path / "m").settings["status"] == "interrupted"


def _read(descriptor):
    """What the other end wrote; nothing once it has closed, which Linux reports as an error."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_a_disk_that_is_full_when_the_model_is_ready_loses_nothing(invoke, svm, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    save = Model.save

    def save_where_there_is_room(model, path):
        if elsewhere not in path.parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(model, path)

    monkeypatch.setattr(Model, "save", save_where_there_is_room)
    result = invoke("train", svm, "-o", "w.model")
    assert result.exit_code == 0
    assert "could not be written (No space left on device)" in result.stderr
    assert str(elsewhere / "w.model") in result.stderr
    assert len(Model.load(elsewhere / "w.model").w) == 300
