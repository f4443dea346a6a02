"""Optional dependencies: imported when first needed, named in one sentence when missing."""

import importlib
from typing import Any


def require(module: str, extra: str) -> Any:
    """The module, or an ImportError that says which extra of dualfree brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f'{package} is needed for this and is not installed; pip install "dualfree[{extra}]" brings it.'
        ) from None
