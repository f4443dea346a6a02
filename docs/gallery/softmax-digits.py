"""Draws docs/images/gallery-softmax-digits.png: the weights of ten digits, and how three samplings reach them."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import dualfree as df

IMAGE = Path(__file__).parent.parent / "images" / "gallery-softmax-digits.png"
RUNS = {
    "shuffled, implicit steps": ("shuffled", "implicit"),
    "importance": ("importance", "theorem-2"),
    "8 of k chunks": ("chunks:8", "theorem-2"),
}
COLOURS = ("#0072B2", "#E69F00", "#CC79A7")


def main() -> None:
    """Fit by three samplings and draw the weights of the first."""
    X, y = load_digits(return_X_y=True)
    problem = df.Problem(X / 60, df.losses.Softmax(y), lam=1 / len(y))
    runs = {
        name: df.solve(problem, sampling=sampling, step=step, tol=1e-9, max_epochs=60)
        for name, (sampling, step) in RUNS.items()
    }
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2, width_ratios=[3, 2])
    W = next(iter(runs.values())).w
    for digit, axes in enumerate(left.subplots(2, 5).flat):
        axes.imshow(W[:, digit].reshape(8, 8), cmap="RdBu_r", vmin=-np.abs(W).max(), vmax=np.abs(W).max())
        axes.set_title(str(digit))
        axes.set_axis_off()
    axes = right.subplots()
    for (name, result), colour in zip(runs.items(), COLOURS, strict=True):
        axes.semilogy(result.history.epoch, result.history.gap / result.certificate.value, color=colour, label=name)
    axes.set(xlabel="epochs", ylabel="certified relative gap", ylim=(1e-10, 3))
    axes.legend(frameon=False)
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
