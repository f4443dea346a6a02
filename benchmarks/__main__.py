"""All benchmarks, one after the other: what `make bench` runs. Options are those of the race."""

from functools import wraps
from typing import Any

import typer

from benchmarks import custom_loss, libsvm_reader
from benchmarks.race.__main__ import race


@wraps(race)
def everything(**options: Any) -> None:
    race(**options)
    for benchmark in (libsvm_reader, custom_loss):
        benchmark.main()


if __name__ == "__main__":
    typer.run(everything)
