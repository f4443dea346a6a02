"""What a dfSDCA step and a pass cost, in nanoseconds: the table of docs/performance.md.

An epoch in shuffled order is one call of the kernel, w and α as the epochs before have left them; passes are at that
point too. Logistic loss, λn = 1, one thread, no Python inside. Run ``python -m benchmarks.kernel``.
"""

import time
from typing import Any

import numpy as np
from rich.table import Table

import dualfree as df
from benchmarks.data import load
from benchmarks.machine import console, print_machine
from benchmarks.timing import take_turns
from dualfree.samplings.base import Draws
from dualfree.steps import step_rule

NAMES = ("w8a", "dorothea", "protein", "rcv1", "cov1")
REPEATS = 15
STEPS = ("nearly-implicit", "implicit", "per-example")


def contestants(problem: df.Problem) -> dict[str, Any]:
    """Calls to time: an epoch with each kind of step, a pass, and an evaluation with α."""
    bound, rng = df.samplings.Shuffled().bind(problem), np.random.default_rng(0)
    alpha, w = np.zeros(problem.n), np.zeros(problem.d)

    def epoch(step: str) -> Any:
        rule, inverse = step_rule(step, bound), 1 / (problem.lam * problem.n)

        def run() -> float:
            draws, examples = Draws(rng.permutation(problem.n)), problem.examples
            begun = time.perf_counter()
            examples.dfsdca(problem.loss.native, rule.slack, rule.scale, inverse, draws, 0.0, alpha, w)
            return time.perf_counter() - begun

        return run

    passes = {"pass": lambda: problem.evaluate(w), "evaluation": lambda: problem.evaluate(w, alpha)}
    return {step: epoch(step) for step in STEPS} | passes


def main() -> None:
    table = Table(title="Nanoseconds of a step, milliseconds of a pass (medians; the least in brackets)")
    for heading in ("data", "nearly", "implicit", "fixed", "a nonzero", "pass", "with α"):
        table.add_column(heading, justify="left" if heading == "data" else "right", no_wrap=True)
    for name in NAMES:
        data = load(name)
        problem = df.Problem(data.X, df.losses.Logistic(data.y), 1 / data.X.shape[0])
        found = take_turns(contestants(problem), REPEATS)
        nearly, visits, nonzeros = found[STEPS[0]], 1e9 / problem.n, 1e9 / problem.examples.stored
        table.add_row(
            name if data.provenance == "real" else f"{name} *",
            f"{visits * nearly.median:.0f} ({visits * nearly.best:.0f})",
            *(f"{visits * found[step].median:.0f}" for step in STEPS[1:]),
            f"{nonzeros * nearly.median:.2f} ({nonzeros * nearly.best:.2f})",
            *(f"{1e3 * found[kind].median:.2f}" for kind in ("pass", "evaluation")),
        )
    console.print(table)
    console.print("Steps: nearly implicit, implicit and fixed ones, and of the first a nonzero.")
    console.print("Pass: value and gradient; with α also the duality gap. *: stand-in or reconstructed.")
    print_machine()


if __name__ == "__main__":
    main()
