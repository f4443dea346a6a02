"""Draws docs/images/gallery-negative-weights.png: a classifier for events of which many have a negative weight."""

import time
import warnings
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.stats import norm

import dualfree as df
from dualfree.linear_model import LogisticRegression

IMAGE = Path(__file__).parent.parent / "images" / "gallery-negative-weights.png"
COLOURS = {"truth": "#000000", "signed": "#0072B2", "absolute": "#E69F00", "without": "#CC79A7"}
C = 1e4


def background(x):
    """A density that simulation gives as a difference: events of one kind count +1, those of another −1."""
    return 1.5 * norm.pdf(x, 0, 1.2) - 0.5 * norm.pdf(x, 0, 0.8)


def signal(x):
    return norm.pdf(x, 0.8, 0.5)


def events(n, seed=0):
    """x, label and weight of n signal and 2n background events, a quarter of the latter with weight −1."""
    rng = np.random.default_rng(seed)
    negative = rng.random(2 * n) < 0.25
    x = np.concatenate([rng.normal(0.8, 0.5, n), rng.normal(0, np.where(negative, 0.8, 1.2))])
    y = np.repeat([1, 0], [n, 2 * n])
    return x, y, np.concatenate([np.ones(n), np.where(negative, -1.0, 1.0)])


def features(x):
    """Bumps along x."""
    return np.exp(-2 * (x[:, None] - np.linspace(-3, 3, 13)) ** 2)


def fits(x, y, weight):
    """The probability of a signal on a grid, by the way in which weights are used."""
    grid = np.linspace(-3, 3, 300)
    ways = {
        "signed": (weight, np.ones(len(x), dtype=bool)),
        "absolute": (np.abs(weight), np.ones(len(x), dtype=bool)),
        "without": (weight, weight > 0),
    }
    found = {"truth": signal(grid) / (signal(grid) + background(grid))}
    for name, (weights, used) in ways.items():
        begun = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", df.ConvexityWarning)
            model = LogisticRegression(C=C)
            model.fit(features(x[used]), y[used], weights[used])
        found[name] = model.predict_proba(features(grid))[:, 1]
        off = np.abs(found[name] - found["truth"]).max()
        print(f"{name}: largest error {off:.3f}, {time.perf_counter() - begun:.2f} s, {model.certificate_.sentence}")
        for warning in caught:
            print(f"  {warning.message}")
    return grid, found


def main():
    x, y, weight = events(50_000)
    grid, found = fits(x, y, weight)
    figure = Figure(figsize=(9, 3.6), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    bins = np.linspace(-4, 4, 81)
    for label, name, colour in ((1, "signal", "#D55E00"), (0, "background", "#009E73")):
        heights, _ = np.histogram(x[y == label], bins, weights=weight[y == label], density=True)
        left.stairs(heights, bins, color=colour, label=f"{name}, weighted events", fill=True, alpha=0.35)
    wide = np.linspace(-4, 4, 400)
    left.plot(wide, signal(wide), color="#D55E00")
    left.plot(wide, background(wide), color="#009E73")
    left.set(xlabel="x", ylabel="density", title="A background with negative weights")
    titles = {"truth": "truth", "signed": "weights as they are", "absolute": "|weights|", "without": "no negative ones"}
    for name, curve in found.items():
        style = "--" if name == "truth" else "-"
        right.plot(grid, curve, style, color=COLOURS[name], label=titles[name], linewidth=1.8)
    right.set(xlabel="x", ylabel="probability of a signal", title="Logistic regression")
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=8)
    FigureCanvasAgg(figure).print_png(str(IMAGE))


if __name__ == "__main__":
    main()
