"""Model files: there and back to the bit, and one sentence for whatever is not one."""

import errno
import io
import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import dualfree as df
from dualfree.io import streams
from dualfree.model import FORMAT, Model, ModelFileError


def trained(loss=df.losses.Logistic, labels=("no", "yes"), **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    side = X @ rng.normal(size=4)
    y = np.where(side > 0, labels[1], labels[0]) if labels else side
    problem = df.Problem(X, loss(y, **options), lam=0.05)
    return Model.of(problem, df.solve(problem), ["a", "b", "ç", "[d]"], {"tol": 1e-6}), X, y


@pytest.mark.parametrize(
    ("loss", "labels", "options"),
    [
        (df.losses.Logistic, ("no", "yes"), {}),
        (df.losses.SmoothedHinge, (-1.0, 1.0), {"gamma": 0.3}),
        (df.losses.SquaredHinge, (3, 7), {}),
        (df.losses.Huber, None, {"delta": 0.1}),
    ],
)
@pytest.mark.parametrize("name", ["plain", "a.npz", "a.model.gz"])
def test_round_trip_is_exact_to_the_bit(loss, labels, options, name, tmp_path):
    model, X, _ = trained(loss, labels, **options)
    model.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    back = Model.load(tmp_path / name)
    assert back.w.tobytes() == model.w.tobytes()
    assert back.decision(X).tobytes() == model.decision(X).tobytes()
    assert (back.loss, back.parameters, back.lam) == (model.loss, tuple(options.values()), model.lam)
    assert back.settings == model.settings
    assert back.settings["sampling"] == "Shuffled()"
    assert back.certificate == model.certificate
    assert back.feature_names == ("a", "b", "ç", "[d]")
    assert back.version == df.__version__
    if labels is None:
        assert back.classes is None
    else:
        assert back.classes.tolist() == list(labels)
        assert back.classes.dtype == model.classes.dtype


def test_predictions_and_probabilities():
    model, X, y = trained()
    assert np.mean(model.predict(X) == y) > 0.9
    both = model.probabilities(X)
    assert both.shape == (60, 2)
    np.testing.assert_allclose(both.sum(axis=1), 1)
    assert ((both[:, 1] > 0.5) == (model.predict(X) == "yes")).all()
    np.testing.assert_array_equal(model.predict(csr_matrix(X)), model.predict(X))
    with pytest.raises(ValueError, match="needs 4 features"):
        model.decision(X[:, :3])
    hinge, X, _ = trained(df.losses.SquaredHinge)
    with pytest.raises(ValueError, match="only logistic gives probabilities"):
        hinge.probabilities(X)


def test_labels_that_are_objects_are_stored_without_a_pickle(tmp_path):
    X = np.eye(2)
    problem = df.Problem(X, df.losses.Logistic(np.array(["a", "b"], dtype=object)), lam=0.1)
    Model.of(problem, df.solve(problem)).save(tmp_path / "m")
    assert Model.load(tmp_path / "m").predict(X).tolist() == ["a", "b"]


def test_every_truncation_is_refused(tmp_path):
    path = tmp_path / "m"
    trained()[0].save(path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"m is not a dualfree model, or it is damaged"):
            Model.load(path)


def saved(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def lone_array():
    file = io.BytesIO()
    np.save(file, np.ones(3))
    return file.getvalue()


def header(**changes):
    known = {
        "format": FORMAT, "version": "0", "loss": "squared", "parameters": [], "lam": 1.0, "settings": {},
        "certificate": {"value": 1.0, "duality_gap": 0.0, "gradient_bound": 0.0, "average_convex": True},
        "feature_names": None,
    }  # fmt: skip
    return np.array(json.dumps(known | changes))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"+1 1:0.5\n", "not a dualfree model"),
        (b"\x80\x04K\x01.", "not a dualfree model"),
        (lone_array(), "not a dualfree model"),
        (saved(w=np.ones(2)), "not a dualfree model"),
        (saved(w=np.ones(2), dualfree_model=np.array([None], dtype=object)), "not a dualfree model"),
        (saved(w=np.ones(2), dualfree_model=np.array("[1]")), "not a dualfree model"),
        (saved(w=np.ones(2), dualfree_model=header(format=99, version="7.0")), "format 99, written by dualfree 7.0"),
        (saved(dualfree_model=header()), "parts missing"),
        (saved(w=np.ones((2, 2)), dualfree_model=header()), "parts missing or wrong"),
        (saved(w=np.array([np.nan]), dualfree_model=header()), "parts missing or wrong"),
        (saved(w=np.ones(2), classes=np.ones(3), dualfree_model=header()), "parts missing or wrong"),
        (saved(w=np.ones(2), dualfree_model=header(feature_names=["a"])), "parts missing or wrong"),
        (saved(w=np.ones(2), dualfree_model=header(certificate={})), "parts missing or wrong"),
    ],
)
def test_foreign_files_are_refused(content, words, tmp_path):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ModelFileError, match=words):
        Model.load(tmp_path / "m")


def test_a_full_disk_leaves_the_old_model(tmp_path, monkeypatch):
    path = tmp_path / "m"
    trained()[0].save(path)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(streams.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        trained(df.losses.SquaredHinge)[0].save(path)
    assert [left.name for left in tmp_path.iterdir()] == ["m"]
    assert Model.load(path).loss == "logistic"
