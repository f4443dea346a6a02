"""A process that fits, so that a peer that hangs or crashes can be ended without losing the rest."""

import gc
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks import data
from benchmarks.objective import value
from benchmarks.optimum import Optimum, find_optimum
from benchmarks.peers import Task, peers
from benchmarks.race.rule import Attempt, FitFailed

GRACE = 2.0  # seconds beyond the limit: the way there and back
PREPARING = 180.0  # for importing, loading data and compiling, which the limit does not count


@dataclass(frozen=True)
class Cell:
    """A dataset (its name, or the path of its file), a loss and λn: one problem that everybody solves."""

    dataset: str
    loss: str
    lam_n: float

    @property
    def title(self) -> str:
        """The dataset's name, or its file's without the folders."""
        return Path(self.dataset).name

    def __str__(self) -> str:
        return f"{self.loss}, {self.title}, λn = {self.lam_n:g}"


@dataclass(frozen=True)
class About:
    """What the tables say of a cell's data, and its optimum."""

    n: int
    d: int
    nonzeros: int
    provenance: str
    optimum: Optimum


@lru_cache(maxsize=1)
def _data(name: str) -> data.Data:
    return data.load(name)


@lru_cache(maxsize=1)
def task_of(cell: Cell) -> Task:
    """The task of a cell; one dataset stays in memory."""
    found = _data(cell.dataset)
    return Task(found.X, found.y, cell.loss, cell.lam_n / len(found.y))


@lru_cache(maxsize=2)
def _prepared(cell: Cell, make: Callable[[Task], Any]) -> Any:
    return make(task_of(cell))


@cache
def _warm_up(name: str, loss: str, sparse: bool) -> None:
    """A first fit of a few rows: what compiles when first called does so here."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) / 5
    task = Task(csr_matrix(X) if sparse else X, np.where(X[:, 0] > 0, 1.0, -1.0), loss, 1 / 40)
    peer = peers()[name]
    peer.fit(task, peer.prepare(task), peer.grid[0])


def prepare(cell: Cell, name: str) -> None:
    """Everything that is not to be timed."""
    _warm_up(name, cell.loss, task_of(cell).sparse)
    _prepared(cell, peers()[name].prepare)


def fit(cell: Cell, name: str, tol: float) -> tuple[float, float, float]:
    """Seconds of one fit, the value that it reached, and its processor's seconds."""
    task, peer = task_of(cell), peers()[name]
    prepared = _prepared(cell, peer.prepare)
    gc.disable()  # a collection would hit whoever happens to run
    try:
        begun, processor = time.perf_counter(), time.process_time()
        w = peer.fit(task, prepared, tol)
        seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    finally:
        gc.enable()
    return seconds, value(task, w), processor


def about(cell: Cell) -> About:
    """Size, provenance and optimum of a cell."""
    task = task_of(cell)
    nonzeros = int(task.X.nnz if task.sparse else task.X.size)
    return About(task.n, task.d, nonzeros, _data(cell.dataset).provenance, find_optimum(task))


def skips(cell: Cell, name: str) -> str | None:
    """Why a solver does not take part."""
    return peers()[name].skips(task_of(cell))


ACTIONS: dict[str, Callable[..., Any]] = {"prepare": prepare, "fit": fit, "about": about, "skips": skips}


def serve(pipe: Connection, log: str) -> None:
    """Answer requests until the pipe closes; what peers print goes to the log."""
    with open(log, "a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    warnings.simplefilter("ignore")  # peers that stop at a loose tolerance say so each time
    while True:
        try:
            action, *arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((True, ACTIONS[action](*arguments)))
        except Exception as error:  # the reason goes into the table
            where = traceback.extract_tb(error.__traceback__)[-1]
            pipe.send((False, f"{type(error).__name__}: {str(error)[:200]} ({where.name})"))


class Worker:
    """The process from outside: it starts when first needed, and again after it had to be ended."""

    def __init__(self, log: str = os.devnull) -> None:
        self._log = log
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Any = None

    def ask(self, seconds: float, action: str, *arguments: Any) -> Any:
        """The answer to a request, or FitFailed with the reason."""
        if self._process is None:
            self._pipe, theirs = self._context.Pipe()
            self._process = self._context.Process(target=serve, args=(theirs, self._log), daemon=True)
            self._process.start()
            theirs.close()
            seconds += PREPARING
        self._pipe.send((action, *arguments))
        if not self._pipe.poll(seconds):
            self.close()
            raise FitFailed(f"ended after {seconds:.0f} s")
        try:
            fine, answer = self._pipe.recv()
        except EOFError:
            code = self._process.exitcode
            self.close()
            raise FitFailed(f"crashed (exit code {code})") from None
        if not fine:
            raise FitFailed(answer)
        return answer

    def run(self, cell: Cell, name: str, attempt: Attempt, limit: float) -> None:
        """Add one repeat to an attempt."""
        self.ask(PREPARING, "prepare", cell, name)
        attempt.add(*self.ask(limit + GRACE, "fit", cell, name, attempt.tol))

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None
