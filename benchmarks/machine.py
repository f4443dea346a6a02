"""What every benchmark shares: the data, the console, and a line that says where the numbers come from."""

import os
import platform
from pathlib import Path

import numpy
import scipy
import sklearn
from rich.console import Console

import dualfree as df
from dualfree._native import ISA

console = Console()


def load(name: str) -> df.datasets.Dataset:
    """The real dataset if it is at hand, else its stand-in; `provenance` says which."""
    return df.datasets.load(name, standin=df.datasets.describe(name).available is None)


def print_machine() -> None:
    """Print the processor, the versions, and a warning where stand-ins were measured."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor()
    console.print(
        f"{processor}, {os.cpu_count()} cores, {platform.system()}; Python {platform.python_version()}, "
        f"NumPy {numpy.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, "
        f"dualfree kernels: {ISA}; one thread."
    )
    missing = [name for name in df.datasets.names() if df.datasets.describe(name).available is None]
    if missing:
        console.print(f"[bold]Stand-ins, not the real data[/bold], for: {', '.join(missing)} (set DUALFREE_DATA).")
