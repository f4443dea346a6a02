"""Tables as CSV files, and numbers as people read them."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dualfree.io.streams import atomic_write
from dualfree.paper.report.parts import Figure, Raw, Table


def all_data(figure: Figure, raws: Mapping[str, Raw]) -> Table:
    """Every number behind a figure: its experiments' tables below each other, each row under its experiment's name."""
    tables = [(experiment.name, figure.data(raws[experiment.name])) for experiment in figure.experiments]
    header = ("experiment", *tables[0][1].header)
    return Table(header, [(name, *row) for name, table in tables for row in table.rows])


def save_csv(table: Table, path: Path) -> Path:
    """Write the table; it appears once it is complete."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([[_exact(cell) for cell in row] for row in table.rows])
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    return path


def _exact(cell: Any) -> Any:
    return f"{cell:.10g}" if isinstance(cell, float) else cell


def shown(cell: Any) -> str:
    """A cell for people.

    Examples
    --------
    >>> shown(0.000123456), shown(12345), shown(None), shown("w8a")
    ('0.0001235', '12,345', '–', 'w8a')
    """
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
