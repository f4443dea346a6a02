"""What every benchmark shares: the data, the console, and where the numbers come from."""

import hashlib
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console

import dualfree as df
from dualfree import _native

console = Console()


def load(name: str) -> df.datasets.Dataset:
    """The real dataset if it is at hand, else its stand-in; `provenance` says which."""
    return df.datasets.load(name, standin=df.datasets.describe(name).available is None)


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def dualfree_fingerprint() -> str:
    """Eight digits that change with dualfree's code: its version alone does not tell two builds apart."""
    digest = hashlib.sha256()
    folders = [Path(df.__file__).parent, Path(_native.kernels.__file__).parent]
    for path in sorted({path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".so")}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def describe_machine(distributions: Iterable[str] = ("numpy", "scipy", "scikit-learn")) -> dict[str, Any]:
    """The machine, the versions, and the date, for the record."""
    versions = {}
    for name in distributions:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": versions,
        "dualfree": f"{df.__version__}, code {dualfree_fingerprint()}",
        "kernels": _native.ISA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def print_machine() -> None:
    """Print the processor, the versions, and a warning where stand-ins were measured."""
    facts = describe_machine()
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    console.print(
        f"{facts['processor']}, {facts['cores']} cores, {facts['system']}; Python {facts['python']}, {versions}, "
        f"dualfree {facts['dualfree']}, kernels {facts['kernels']}."
    )
    missing = [name for name in df.datasets.names() if df.datasets.describe(name).available is None]
    if missing:
        console.print(f"[bold]Stand-ins, not the real data[/bold], for: {', '.join(missing)} (set DUALFREE_DATA).")
