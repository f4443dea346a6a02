"""The command ``dualfree``: train, predict and evaluate from a terminal; one file a command or two."""

from dualfree.cli import datasets, demo, methods, plan, predict, train
from dualfree.cli.app import app

__all__ = ["app", "datasets", "demo", "main", "methods", "plan", "predict", "train"]


def main() -> None:
    """Run the command line."""
    app(prog_name="dualfree")
