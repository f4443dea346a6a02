"""Draws docs/images/gallery-conditional-logit.png: tastes from choices, and the probabilities that follow from them."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dualfree.linear_model import ConditionalLogit

IMAGE = Path(__file__).parent.parent / "images" / "gallery-conditional-logit.png"
NAMES = ("price", "minutes", "changes")
TASTES = np.array([-1.2, -0.8, -0.5])  # how much each is disliked, in its own standard deviations


def journeys(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let n travellers choose among two to five journeys."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n), rng.integers(2, 6, size=n))
    X = rng.normal(size=(len(groups), 3))
    utility = X @ TASTES + rng.gumbel(size=len(groups))
    best = np.maximum.reduceat(utility, np.flatnonzero(np.diff(groups, prepend=-1)))
    return X, (utility == best[groups]).astype(int), groups


def main() -> None:
    """Draw the errors of the tastes against the number of choices, and how probabilities are borne out."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    counts = np.array([50, 200, 800, 3200, 12800])
    fits = [[ConditionalLogit(C=100).fit(*journeys(n, seed)).coef_ for seed in range(10)] for n in counts]
    found = np.array(fits)
    for k, (name, colour) in enumerate(zip(NAMES, ("#0072B2", "#E69F00", "#CC79A7"), strict=True)):
        left.errorbar(counts, found[:, :, k].mean(1), found[:, :, k].std(1), color=colour, marker="o", label=name)
        left.axhline(TASTES[k], color=colour, linestyle=":")
    left.set(xscale="log", xlabel="choices observed", ylabel="coefficient")
    left.legend(frameon=False)
    model = ConditionalLogit(C=100).fit(*journeys(3200, 0))
    X, y, groups = journeys(20_000, 99)
    probability = model.predict_proba(X, groups)
    edges = np.linspace(0, 1, 11)
    place = np.digitize(probability, edges[1:-1])
    right.plot([0, 1], [0, 1], color="grey", linestyle=":")
    right.plot(
        [probability[place == k].mean() for k in range(10)],
        [y[place == k].mean() for k in range(10)],
        "o",
        color="#0072B2",
    )
    right.set(xlabel="probability that the model gives", ylabel="share that was chosen, new travellers")
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
