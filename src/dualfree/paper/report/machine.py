"""Where and with what a report was made."""

import os
import platform
from pathlib import Path

import numpy
import scipy

import dualfree
from dualfree._native import ISA
from dualfree.optional import require


def machine() -> list[tuple[str, str]]:
    """Names and values, for a table.

    Examples
    --------
    >>> dict(machine())["dualfree"].split()[0] == dualfree.__version__
    True
    """
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return [
        ("processor", models[0] if models else platform.processor() or platform.machine()),
        ("cores", str(os.cpu_count())),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Python", platform.python_version()),
        ("dualfree", f"{dualfree.__version__} ({ISA} kernels)"),
        ("NumPy", numpy.__version__),
        ("SciPy", scipy.__version__),
        ("matplotlib", str(require("matplotlib", "plots").__version__)),
    ]
