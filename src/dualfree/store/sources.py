"""Rows out of files, a block at a time, from any place at which an earlier import stopped."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualfree.io.libsvm import pieces
from dualfree.io.libsvm_assembly import Assembly
from dualfree.io.libsvm_errors import LibsvmError
from dualfree.io.streams import Decompressed, StreamError
from dualfree.io.tables import is_table, label_position, split_label
from dualfree.optional import require

_BLOCK_BYTES = 8 << 20  # of text
_BATCH_ENTRIES = 1 << 20

Position = dict[str, int]


class Block(NamedTuple):
    """Rows of one file: where the next block begins, which part of the file is read, and what the names are.

    `lowest` and `highest` are the feature indices as the file counts them (LIBSVM only).
    """

    X: Any
    labels: NDArray[Any]
    position: Position
    fraction: float
    feature_names: list[str] | None
    lowest: int = 0
    highest: int = -1


def blocks(path: Path, position: Position, label: str | int | None) -> Iterator[Block]:
    """The rows of a file from `position` on; an empty one is its beginning."""
    if not is_table(path):
        if label is not None:
            raise ValueError(f"{path}: label={label!r} is for tables; LIBSVM text has its labels in front.")
        return _text_blocks(path, position)
    return _table_blocks(path, position, label)


def _text_blocks(path: Path, position: Position) -> Iterator[Block]:
    offset, lines = position.get("bytes", 0), position.get("lines", 0)
    with Decompressed(path) as stream:
        try:
            _skip(stream, offset)
            # Columns as the file counts them: only its end tells whether it counts from 0.
            assembly, begun = _assembly(stream.name, lines), offset
            for text, cut_off in pieces(stream):
                assembly.take(text, cut_off, 0.0)
                offset += text.size
                if offset - begun >= _BLOCK_BYTES and assembly.arrays.rows:
                    yield _text_block(assembly, offset, stream.fraction)
                    assembly, begun = _assembly(stream.name, assembly.lines), offset
        except StreamError as error:
            raise LibsvmError(str(error), stream.name, assembly.lines + 1) from None
        if assembly.arrays.rows:
            yield _text_block(assembly, offset, 1.0)


def _assembly(name: str, lines: int) -> Assembly:
    assembly = Assembly(name, None, np.float64, True, False)
    assembly.lines = lines
    return assembly


def _text_block(assembly: Assembly, offset: int, fraction: float) -> Block:
    X, labels, _ = assembly.result()
    position = {"bytes": offset, "lines": assembly.lines}
    return Block(X, labels, position, fraction, None, assembly.lowest, assembly.highest)


def _skip(stream: Decompressed, count: int) -> None:
    with memoryview(bytearray(1 << 20)) as room:
        while count > 0:
            read = stream.readinto(room[: min(count, len(room))])
            if read == 0:
                raise StreamError("the file is shorter than when its import began")
            count -= read


def _table_blocks(path: Path, position: Position, label: str | int | None) -> Iterator[Block]:
    done, seen = position.get("rows", 0), 0
    arrow = require("pyarrow", "tables")
    try:
        for batch, fraction in _parquet(path) if _is_parquet(path) else _csv(path, label):
            before, seen = seen, seen + batch.num_rows
            if seen <= done or batch.num_rows == 0:
                continue
            table = arrow.Table.from_batches([batch]).slice(max(0, done - before))
            at = label_position(str(path), [str(name) for name in table.column_names], label)
            X, labels, names = split_label(str(path), table, at, max(done, before))
            yield Block(X, labels, {"rows": seen}, fraction, names)
    except (arrow.ArrowInvalid, StreamError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split()).rstrip('.')}.") from None


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _parquet(path: Path) -> Iterator[tuple[Any, float]]:
    with require("pyarrow.parquet", "tables").ParquetFile(path) as file:
        rows = max(1, file.metadata.num_rows)
        size, seen = max(1, _BATCH_ENTRIES // max(1, file.metadata.num_columns)), 0
        for batch in file.iter_batches(batch_size=size, use_threads=False):
            seen += batch.num_rows
            yield batch, seen / rows


def _csv(path: Path, label: str | int | None) -> Iterator[tuple[Any, float]]:
    """Batches of a CSV file, with types that hold for all of it: numbers, and for labels numbers or text."""
    csv, arrow = require("pyarrow.csv", "tables"), require("pyarrow", "tables")
    options = csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES)
    with Decompressed(path) as stream, csv.open_csv(_Reading(stream), read_options=options) as reader:
        schema = reader.schema
    types = {name: arrow.float64() for name in schema.names}
    at = label_position(str(path), list(schema.names), label)
    if arrow.types.is_string(schema.types[at]):
        types[schema.names[at]] = arrow.string()
    convert = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    with (
        Decompressed(path) as stream,
        csv.open_csv(_Reading(stream), read_options=options, convert_options=convert) as reader,
    ):
        for batch in reader:
            yield batch, stream.fraction


class _Reading(io.RawIOBase):
    """The decompressed bytes as a file."""

    def __init__(self, stream: Decompressed) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.readinto(memoryview(buffer))


def identity(path: Path) -> list[Any]:
    """What tells whether a file is still the same: its full name, size and time."""
    known = os.stat(path)
    return [str(path.resolve()), known.st_size, known.st_mtime_ns]
