"""Problems whose features lie far from the origin, so that an intercept matters and is tied to the weights."""

import numpy as np

import dualfree as df

LOSSES = {
    "logistic": df.losses.Logistic,
    "squared": df.losses.Squared,
    "squared-hinge": df.losses.SquaredHinge,
    "smoothed-hinge": lambda y, **k: df.losses.SmoothedHinge(y, gamma=0.5, **k),
    "huber": lambda y, **k: df.losses.Huber(y, delta=0.7, **k),
}

OUTPUTS = {  # losses on the three outputs of a row, made from three scores
    "softmax": lambda Y, **k: df.losses.Softmax(Y.argmax(axis=1), **k),
    "squared-targets": df.losses.Squared,
    "huber-targets": lambda Y, **k: df.losses.Huber(Y, 0.7, **k),
}


def make_loss(name, X, y, weight=None):
    """The loss of that name; where it takes three outputs, with scores of its own in place of y."""
    if name in LOSSES:
        return LOSSES[name](y, weight=weight)
    rng = np.random.default_rng(7)
    scores = X @ rng.normal(size=(X.shape[1], 3))
    return OUTPUTS[name](scores - np.median(scores, axis=0) + rng.normal(size=scores.shape), weight=weight)


def make_data(name, n=60, d=5, seed=0, centre=3.0):
    """Features far from the origin, so that the intercept matters and is tied to the weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6) + centre * (rng.random(d) < 0.5)
    score = X @ rng.normal(size=d) + 2.0
    y = score + rng.normal(size=n) if name in ("squared", "huber") else np.sign(score - np.median(score) + 0.3)
    return X, np.where(y == 0, 1.0, y)
