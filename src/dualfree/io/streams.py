"""Bytes in and out of files: compressed or not, and never half a file.

What a file *holds* decides how it is read (its first bytes), what it is *called* decides how it is written.
"""

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

Source: TypeAlias = str | os.PathLike[str] | BinaryIO

_MAGIC: dict[bytes, str] = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_READERS: dict[str, Callable[[Any], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_WRITERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class _Replayed(io.RawIOBase):
    """A binary file, seekable or not, whose first bytes were read already: they come again, then the rest."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head or self._rest.read(len(buffer))
        taken = data[: len(buffer)]
        self._head = data[len(taken) :]
        buffer[: len(taken)] = taken
        self.given += len(taken)
        return len(taken)


class StreamError(ValueError):
    """A compressed file that cannot be decompressed to its end."""


class Decompressed:
    """The decompressed bytes of `source`; a context manager that closes only what it opened."""

    def __init__(self, source: Source) -> None:
        self._owned: BinaryIO | None = None
        self._size = 0
        if isinstance(source, str | os.PathLike):
            self.name = os.fspath(source)
            self._owned = open(source, "rb")  # noqa: SIM115
            self._size = os.fstat(self._owned.fileno()).st_size
        else:
            self.name = str(getattr(source, "name", "<stream>"))
        file = self._owned or cast(BinaryIO, source)
        head: Any = file.read(6)
        if not isinstance(head, bytes):
            self.close()
            raise TypeError(f"{self.name} is open as text; open it in binary mode ('rb').")
        self.kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
        self._raw = _Replayed(head, file)
        whole = io.BufferedReader(self._raw, buffer_size=1 << 16)
        self._stream: IO[bytes] = _READERS[self.kind](whole) if self.kind else whole

    def __enter__(self) -> "Decompressed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file if it was opened here."""
        if self._owned is not None:
            self._owned.close()

    @property
    def fraction(self) -> float:
        """About which part of the file has been read, or 0 if its size is unknown."""
        return self._raw.given / self._size if self._size else 0.0

    def readinto(self, buffer: memoryview) -> int:
        """Fill the start of `buffer`; 0 means the end."""
        try:
            return cast(int, cast(Any, self._stream).readinto(buffer))
        except EOFError:
            raise StreamError(f"the {self.kind} stream is cut off; copy or download the file again") from None
        except (lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            raise self._damaged(error) from None
        except OSError as error:
            # bz2 reports damage as an OSError without a number; one with a number comes from the disk.
            if error.errno is not None or self.kind is None:
                raise
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> StreamError:
        reason = str(error).rstrip(".")
        return StreamError(f"the {self.kind} stream is damaged ({reason}); copy or download the file again")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open `path` for writing, compressed if its suffix says so; it changes only once all is on the disk.

    The bytes go to a file beside it that takes its place at the end. After an error `path` is as it was and
    nothing is left beside it. What is no regular file (a pipe, a device) is written directly.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(folder + "/a.gz") as file:
    ...         _ = file.write(b"1 1:1")
    ...     gzip.decompress(pathlib.Path(folder, "a.gz").read_bytes())
    b'1 1:1'
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as raw, _compressed(raw, Path(path).suffix) as file:
            yield file
        return
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with open(partial, "xb") as raw:
            with _compressed(raw, target.suffix) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def _compressed(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    writer = _WRITERS.get(suffix)
    if writer is None:
        yield raw
        return
    with writer(raw, "wb") as file:
        yield file
