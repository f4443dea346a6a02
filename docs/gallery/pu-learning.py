"""Draws docs/images/gallery-pu-learning.png: positive and unlabelled examples, and what comes of ignoring that."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dualfree.linear_model import LogisticRegression, PUClassifier

IMAGE = Path(__file__).parent.parent / "images" / "gallery-pu-learning.png"
NAMES = {"PUClassifier": "#0072B2", "unlabelled taken for negative": "#E69F00", "all labels known": "#000000"}
KNOWN = (20, 50, 100, 200, 400)
SEEDS = 20


def fits(X, truth, known, C):
    """The three classifiers; `known` marks the positive examples that are labelled."""
    prior = truth[~known].mean()
    return {
        "PUClassifier": PUClassifier(prior, C=C).fit(X, known),
        "unlabelled taken for negative": LogisticRegression(C=C).fit(X, known),
        "all labels known": LogisticRegression(C=C).fit(X, truth),
    }


def clouds(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    X = rng.normal(size=(n, 2)) + np.where(truth, 1.3, -1.3)[:, None]
    return X, truth, truth & (rng.random(n) < 0.15)


def accuracies():
    """Even digits against odd ones, on a third held out; the mean and its standard error over the seeds."""
    X, digit = load_digits(return_X_y=True)
    found = {name: np.empty((len(KNOWN), SEEDS)) for name in NAMES}
    for seed in range(SEEDS):
        split = train_test_split(X / 16, digit % 2 == 0, test_size=1 / 3, random_state=seed)
        train, test, truth, classes = split
        rng = np.random.default_rng(seed)
        for k, count in enumerate(KNOWN):
            known = np.zeros(len(truth), dtype=bool)
            known[rng.choice(np.flatnonzero(truth), count, replace=False)] = True
            for name, model in fits(train, truth, known, C=0.1).items():
                found[name][k, seed] = model.score(test, classes)
    return {name: (a.mean(axis=1), a.std(axis=1, ddof=1) / np.sqrt(SEEDS)) for name, a in found.items()}


def main():
    figure = Figure(figsize=(9, 3.8), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    X, truth, known = clouds()
    left.scatter(*X[~known].T, s=4, color="#bbbbbb", label="unlabelled")
    left.scatter(*X[known].T, s=7, color="#D55E00", label="known to be positive")
    across = np.linspace(-5, 5, 2)
    for name, model in fits(X, truth, known, C=1.0).items():
        a, b = model.coef_[0]
        style = "--" if name == "all labels known" else "-"
        left.plot(across, -(model.intercept_[0] + a * across) / b, style, color=NAMES[name], label=name)
    left.set(xlim=(-5, 5), ylim=(-5, 5), title="Where the classes are divided")
    left.legend(fontsize=7, loc="lower left")
    for name, (mean, error) in accuracies().items():
        print(name, dict(zip(KNOWN, mean.round(3).tolist(), strict=True)), "±", error.round(3).tolist())
        style = "--" if name == "all labels known" else "o-"
        right.errorbar(KNOWN, mean, 2 * error, fmt=style, color=NAMES[name], label=name, capsize=2)
    right.set(xscale="log", xlabel="positive examples that are labelled", ylabel="accuracy, held out")
    right.set_title("Even digits against odd ones")
    right.set_xticks(KNOWN, [str(count) for count in KNOWN])
    right.minorticks_off()
    FigureCanvasAgg(figure).print_png(str(IMAGE))


if __name__ == "__main__":
    main()
