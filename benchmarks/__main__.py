"""All benchmarks, one after the other: what `make bench` runs. Options are those of the race."""

import typer

from benchmarks import custom_loss, libsvm_reader
from benchmarks.race.__main__ import race

if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command()(race)
    app(standalone_mode=False)
    for benchmark in (libsvm_reader, custom_loss):
        benchmark.main()
