"""Draws docs/images/gallery-leading-component.png: the way to the leading component, and the one of the digits."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.datasets import load_digits

import dualfree as df

IMAGE = Path(__file__).parent.parent / "images" / "gallery-leading-component.png"
TOLERANCES = 10.0 ** -np.arange(1, 11)


def by_dualfree(X):
    """Epochs and passes together, and the relative residual, for each tolerance."""
    found = [df.leading_component(X, tol=tol) for tol in TOLERANCES]
    return [one.epochs + one.passes for one in found], [one.residual / one.eigenvalue for one in found]


def by_lanczos(X):
    """The same by ARPACK with its own settings; a product with C is a pass."""
    n, d = X.shape
    passes, residuals = [], []
    for tol in TOLERANCES:
        count = 0

        def product(v):
            nonlocal count
            count += 1
            return X.T @ (X @ v) / n

        C = LinearOperator((d, d), matvec=product, dtype=np.float64)
        (theta,), v = eigsh(C, 1, which="LA", tol=tol, v0=np.random.default_rng(0).normal(size=d))
        passes.append(count)
        residuals.append(np.linalg.norm(product(v[:, 0]) - theta * v[:, 0]) / theta)
    return passes, residuals


def main():
    figure = Figure(figsize=(9, 3.6), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    for name, line in (("w8a", "-"), ("rcv1", "--")):
        data = df.datasets.load(name, standin=df.datasets.describe(name).available is None).scaled()
        label = name if data.provenance == "real" else f"{name} ({data.provenance})"
        for title, colour, marker, (spent, residual) in (
            ("leading_component", "#0072B2", "o", by_dualfree(data.X)),
            ("ARPACK", "#E69F00", "s", by_lanczos(data.X)),
        ):
            print(label, title, spent, [f"{r:.1e}" for r in residual])
            left.semilogy(spent, residual, marker + line, color=colour, label=f"{title}, {label}")
    left.set(
        xlabel="passes over the data, and epochs", ylabel="‖Cv − θv‖ / θ", title="One run for each tol, 0.1 to 1e-10"
    )
    left.set_xlim(left=0)
    left.legend(frameon=False, loc="lower left", fontsize=8)
    X = load_digits().data
    found = df.leading_component(X, centre=True)
    print(found.message)
    largest = np.abs(found.vector).max()
    right.imshow(found.vector.reshape(8, 8), cmap="RdBu", vmin=-largest, vmax=largest)
    right.set(xticks=[], yticks=[], title=f"digits, centred: {found.explained:.1%} of the variance")
    FigureCanvasAgg(figure).print_png(str(IMAGE))


if __name__ == "__main__":
    main()
