"""How far a piece of work on files has come, so that a later process can go on from there."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dualfree.io.streams import atomic_write

_NAME = "journal.json"


class Journal:
    """Notes a state together with the sizes of the files that belong to it.

    Files of the folder only ever grow. `save` makes them safe on the disk first and then replaces the note, so that at
    any moment the note speaks of bytes that are there; `load` cuts off what came after it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._path = folder, folder / _NAME
        self._safe: dict[str, int] = {}  # sizes up to which files are on the disk

    def save(self, state: dict[str, Any], files: Iterable[Path]) -> None:
        """Note the state and the files as they are now."""
        sizes = {}
        for path in files:
            sizes[path.name] = path.stat().st_size
            if self._safe.get(path.name) != sizes[path.name]:
                with open(path, "rb") as file:
                    os.fsync(file.fileno())
        self._safe = sizes
        with atomic_write(self._path) as note:
            note.write(json.dumps({"state": state, "sizes": sizes}).encode())

    def load(self) -> dict[str, Any] | None:
        """The last state, with the files as they were; None where there is none, or where files have gone."""
        try:
            said = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        sizes: dict[str, int] = said["sizes"]
        for name, size in sizes.items():
            path = self.folder / name
            if not path.exists() or path.stat().st_size < size:
                return None
        for path in self.folder.iterdir():
            if path.name in sizes:
                os.truncate(path, sizes[path.name])
            elif path != self._path:
                path.unlink()
        state: dict[str, Any] = said["state"]
        return state

    def remove(self) -> None:
        """The work is done."""
        self._path.unlink()
