"""The command ``dualfree``: train, predict and evaluate from a terminal; one file a command or two."""

from dualfree.cli import datasets, demo, importing, methods, plan, predict, race, reproduce, train
from dualfree.cli.app import app

__all__ = ["app", "datasets", "demo", "importing", "main", "methods", "plan", "predict", "race", "reproduce", "train"]


def main() -> None:
    """Run the command line."""
    app(prog_name="dualfree")
