"""Folds of cross-validation: what is kept of each, how they run side by side, and their progress."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, current_thread, main_thread

import numpy as np
from joblib import effective_n_jobs
from rich.console import Console
from rich.progress import Progress
from sklearn import config_context, get_config

from dualfree.linear_model.base import split_intercept
from dualfree.result import Result


class FoldPath:
    """The scores, coefficients and results of one fold; NaN where Ctrl-C came first."""

    def __init__(self, grid: int, rows: int, d: int) -> None:
        self.scores = np.full(grid, np.nan)
        self.coefficients = np.full((grid, rows, d + 1), np.nan)
        self.results: list[Result] = []

    def add(self, k: int, results: list[Result], score: float) -> None:
        """Note what came out for the k-th penalty."""
        points = [result.w for result in results]
        coefficients, intercepts = split_intercept(points, self.coefficients.shape[2] - 1, np.float64)
        self.coefficients[k] = np.column_stack([coefficients, intercepts])
        self.scores[k] = score
        # Of the runs only their ends are needed later; their α would add up to folds × grid × n numbers.
        self.results += [replace(result, alpha=result.alpha[:0].copy()) for result in results]


def run_folds(work: Callable[[int], FoldPath], count: int, n_jobs: int | None, halt: Event) -> list[FoldPath]:
    """The path of each fold, `n_jobs` at a time in threads. Ctrl-C sets `halt`, on which each fold ends by itself."""
    workers = min(effective_n_jobs(n_jobs), count)
    if workers == 1:
        return [work(k) for k in range(count)]
    config = get_config()  # a thread begins with scikit-learn's defaults

    def configured(k: int) -> FoldPath:
        with config_context(**config):
            return work(k)

    futures: list[Future[FoldPath]] = []
    with _ctrl_c_sets(halt), ThreadPoolExecutor(workers) as pool:
        try:
            for k in range(count):
                futures.append(pool.submit(configured, k))
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            halt.set()
        if any(future.done() and future.exception() for future in futures):
            halt.set()
    return [future.result() for future in futures]


@contextmanager
def _ctrl_c_sets(halt: Event) -> Iterator[None]:
    """Meanwhile Ctrl-C sets `halt` and raises nothing: raised among the locks of a pool, it may leave one locked."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: halt.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def progress_of(wanted: bool, title: str, steps: int) -> Iterator[Callable[[], None]]:
    """A bar with one step for each fit; silent where it is not wanted."""
    if not wanted:
        yield lambda: None
        return
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=steps)
        yield lambda: bar.advance(task)
