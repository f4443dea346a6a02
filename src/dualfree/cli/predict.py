"""``dualfree predict`` and ``dualfree evaluate``: what a model says, and how often it is right."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from dualfree.cli.app import app
from dualfree.cli.files import check_output, read_matching
from dualfree.cli.losses import measures
from dualfree.cli.terminal import show, table
from dualfree.io.streams import atomic_write
from dualfree.model import Model
from dualfree.store import open_store
from dualfree.store.layout import is_store

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="What dualfree train saved.")]
Label = Annotated[str | None, typer.Option(help="The table's column of labels, if the model's columns do not tell.")]


@app.command()
def predict(
    model_path: ModelPath,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Examples; labels are not needed in tables, and not looked at.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write, instead of standard output.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Print the probability of the model's second class (+1, say).")
    ] = False,
    label: Label = None,
) -> None:
    """Predict: one line for each example, in the order of the file; for a store, in that of the imported files."""
    if output is not None:
        check_output(output, model_path, file)
    model = Model.load(model_path)
    X, _ = read_matching(file, label, model.feature_names, model.n_features)
    values = model.probabilities(X)[:, 1] if probabilities else model.predict(X)
    lines = _lines(_in_file_order(values, file))
    if output is None:
        sys.stdout.write(lines)
        return
    with atomic_write(output) as written:
        written.write(lines.encode())


def _in_file_order(values: NDArray[Any], file: Path) -> NDArray[Any]:
    """The values of a store's rows as they came before the import shuffled them; others as they are."""
    rows = open_store(file).file_rows if is_store(file) else None
    if rows is None:
        return values
    ordered = np.empty_like(values)
    ordered[rows] = values
    return ordered


def _lines(values: NDArray[Any]) -> str:
    """One value a line; a float with the fewest digits that read back to the same bits, and no needless ``.0``."""
    if values.dtype.kind != "f":
        return "".join(f"{value}\n" for value in values.tolist())
    return "".join(f"{value!r}\n".replace(".0\n", "\n") for value in values.tolist())


@app.command()
def evaluate(
    model_path: ModelPath,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Labelled examples.")],
    label: Label = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure a model: accuracy, log-loss and AUC, or for regression R² and errors."""
    model = Model.load(model_path)
    X, y = read_matching(file, label, model.feature_names, model.n_features)
    if y is None:
        raise ValueError(f"{file} has no column of labels to compare with.")
    found = measures(model, X, y)
    if as_json:
        keys = {"R²": "r2", "log-loss": "log_loss", "AUC": "auc"}
        plain = {keys.get(name, name.replace(" ", "_")): value for name, value in found.items()}
        typer.echo(json.dumps({"examples": len(y), "loss": model.loss} | plain))
        return
    shown = table("measure", "value", left=["measure"])
    for name, value in found.items():
        shown.add_row(name, "not defined here" if value is None else f"{value:.6g}")
    if model.classes is not None:
        labels, counts = np.unique(y, return_counts=True)
        for text, count in zip(_lines(labels).splitlines(), counts.tolist(), strict=True):
            shown.add_row(f"examples of class {text}", f"{count:,}")
    show(f"{model_path.name} on {file.name}: {len(y):,} examples", shown)
