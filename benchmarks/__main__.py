"""All benchmarks, one after the other: what `make bench` runs."""

from benchmarks import custom_loss, libsvm_reader, solvers

for benchmark in (solvers, libsvm_reader, custom_loss):
    benchmark.main()
