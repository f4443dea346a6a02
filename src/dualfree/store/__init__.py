"""The store on disk, for data larger than memory: `import_files` writes it, `open_store` opens it."""

from dualfree.store.importing import import_files
from dualfree.store.layout import StoreError
from dualfree.store.opened import Store, open_store
from dualfree.store.writer import write_store

__all__ = ["Store", "StoreError", "import_files", "open_store", "write_store"]
