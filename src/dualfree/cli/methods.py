"""``dualfree methods``."""

from dualfree.cli.app import app
from dualfree.cli.terminal import console, facts
from dualfree.methods import METHODS

_SYMBOLS = (
    ("n, d, z", "examples, features, nonzeros of a visited row"),
    ("L, λ", "every φᵢ(Aᵢᵀw) + (λ/2)‖w‖² is L-smooth, L = maxᵢ lᵢ‖Aᵢ‖² + λ, and λ-strongly convex"),
    ("p, v, τ", "probabilities and ESO parameters of the sampling, of examples i or features j, and the size of a set"),
    ("k, T", "iterations; a full pass counts as the n visits that it costs"),
)


@app.command()
def methods() -> None:
    """List the methods of solve: what each needs, its memory, its cost, its rate and where it came from."""
    out = console()
    for name, kind in METHODS.items():
        about = kind.about
        out.print(f"{name}: {about.title}", style="bold")
        rows = [("needs", about.needs), ("memory", about.memory), ("a step", about.cost), ("rate", about.rate)]
        out.print(facts([*rows, ("from", about.origin)]))
        out.print()
    out.print(facts(_SYMBOLS))
