"""``dualfree train``."""

import math
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import dualfree
from dualfree.cli.app import app
from dualfree.cli.files import check_output, default_model_path, read_matching
from dualfree.cli.losses import LossName, fit_sentence, make_loss
from dualfree.cli.terminal import Watch, bars, console, facts
from dualfree.io import read
from dualfree.model import Model
from dualfree.problem import Problem
from dualfree.result import Result, Status
from dualfree.samplings.names import FORMS

INTERRUPTED = 130  # the exit code after Ctrl-C

# What `Status.sentence` says, in the words of the command line.
_SENTENCES = {
    Status.CONVERGED: "Converged: the certificate is within the tolerance.",
    Status.MAX_EPOCHS: "Not converged within the epochs allowed; raise --max-epochs or --lam.",
    Status.TIME_LIMIT: "Not converged within the time allowed; raise --time-limit.",
    Status.INTERRUPTED: "Interrupted (Ctrl-C); this is the best answer up to then.",
    Status.DIVERGED: "Diverged: the iterates grew without bound; take a smaller step, such as --step theorem-2.",
}


@app.command()
def train(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Examples: LIBSVM text, a table (.csv, .parquet), or a store (.dfs).")
    ],
    loss: Annotated[LossName | None, typer.Option(help="Logistic by default, for two classes.")] = None,
    lam: Annotated[float | None, typer.Option(help="The regulariser λ > 0. Default: 1/n.", show_default=False)] = None,
    sampling: Annotated[str | None, typer.Option(help=f"One of {FORMS}. Default: the fastest.")] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="implicit, nearly-implicit, rescaled, per-example, theorem-2, theorem-1, tuned, or a θ. "
            "Default: the fastest."
        ),
    ] = None,
    tol: Annotated[float, typer.Option(help="Stop when the certified gap is this small, relative to P(w).")] = 1e-6,
    max_epochs: Annotated[float, typer.Option(help="Stop after so many passes over the data.")] = 1000,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    seed: Annotated[int, typer.Option(help="One seed, one answer.")] = 0,
    threads: Annotated[
        int, typer.Option(help="Threads to use. The answer depends on their number, within the tolerance.")
    ] = 1,
    test: Annotated[Path | None, typer.Option(help="Examples to measure the trained model on.")] = None,
    label: Annotated[
        str | None, typer.Option(help="The table's column of labels. Default: label, target, y, or the last.")
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="Width of the smoothed hinge's round part. Default: 1.")] = None,
    delta: Annotated[
        float | None, typer.Option(help="Where Huber's loss turns linear (default 1), or Tukey's flat (4.685).")
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="Memory for a store larger than it, such as 2GB. Default: half of the machine's.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file to keep where the training stands, in case it is killed.")
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 60.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option(help="Train on a Dask cluster: the scheduler's address, or local for one process a core."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The model. Default: FILE's name with .model, here.")
    ] = None,
) -> None:
    """Train a model until its certificate says that it is done, and save it.

    Ctrl-C saves the best answer so far.
    """
    target = default_model_path(file) if output is None else output
    check_output(target, file, test)
    data = read(file, label=label, memory_limit=memory_limit)
    chosen = make_loss(loss, data.y, gamma, delta)
    problem = Problem(data.X, chosen, 1 / len(data.y) if lam is None else lam, n_threads=threads)
    # Read before the work, so that a mistake in it costs nothing.
    tested = None if test is None else read_matching(test, label, data.feature_names, problem.d)
    if tested is not None and tested[1] is None:
        raise ValueError(f"{test} has no column of labels to compare with.")
    if cluster is not None and (sampling is not None or step is not None):
        raise ValueError("--cluster finds its own sampling and step; leave --sampling and --step out.")
    if cluster is not None and threads != 1:
        raise ValueError("--cluster has one thread for each of its workers' cores; leave --threads out.")
    # An epoch on the disk may take minutes: then the bar is one of epochs, which moves between evaluations.
    on_disk = isinstance(data.X, dualfree.Store) and console(stderr=True).is_terminal
    with nullcontext(_unwatched) if on_disk else bars(tol) as add:
        result = (dualfree.solve if cluster is None else partial(_solve_on, cluster))(
            problem,
            method=_method(sampling, step, threads),
            sampling=sampling,
            step=None if step is None else _step(step),
            tol=tol,
            max_epochs=max_epochs,
            time_limit=time_limit,
            seed=seed,
            n_threads=threads,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            callback=add(sampling or "training"),
            progress=on_disk,
        )
    model = Model.of(problem, result, data.feature_names, {"tol": tol, "max_epochs": max_epochs})
    target = _save(model, target)
    rows = [
        ("data", f"{file.name}: {problem.n:,} examples, {problem.d:,} features"),
        *_rows(problem, result, model),
        ("training data", fit_sentence(model, data.X, data.y)),
    ]
    if tested is not None and tested[1] is not None:
        rows.append(("test data", fit_sentence(model, tested[0], tested[1])))
    console().print(facts([*rows, ("model", str(target))]))
    _warn(result.status, target)
    if result.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def _method(sampling: str | None, step: str | None, threads: int) -> str:
    """Who asks for a sampling or a step gets dfSDCA with it; who does not, whatever ends soonest."""
    if sampling is not None or step is not None:
        return "dfsdca"
    return "auto" if threads == 1 else "auto-copies"


def _unwatched(title: str) -> Watch:
    return lambda row: None


def _solve_on(cluster: str, problem: Problem, *, sampling: Any, step: Any, n_threads: int, **options: Any) -> Result:
    """`dualfree.distributed.solve`, which takes neither a sampling nor a step, and has threads of its own."""
    return dualfree.distributed.solve(problem, client=cluster, **options)


def _save(model: Model, target: Path) -> Path:
    """Save at `target`; if that fails now (a full disk), in the folder for temporary files, so that nothing is lost."""
    try:
        model.save(target)
        return target
    except OSError as error:
        refuge = Path(tempfile.gettempdir(), target.name)
        if refuge.resolve() == target.resolve():
            raise
        model.save(refuge)
        said = f"warning: {target} could not be written ({error.strerror}); the model is in {refuge} instead."
        console(stderr=True).print(said, style="yellow", soft_wrap=True)
        return refuge


def _step(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _rows(problem: Problem, result: Result, model: Model) -> list[tuple[str, str]]:
    parameters = "".join(f" ({parameter:g})" for parameter in model.parameters)
    proof = result.certificate
    relative = f" Relative: {proof.relative_gap:.2g}." if proof.guaranteed else ""
    return [
        ("problem", f"{model.loss} loss{parameters}, λ = {problem.lam:.4g}"),
        ("status", _SENTENCES[result.status]),
        ("certificate", proof.sentence + relative),
        ("spent", f"{result.epochs:.4g} epochs, {result.seconds:.3g} s"),
        ("method", f"{result.method}; {result.sampling}, {result.step} step"),
        ("promised", _promise(result)),
    ]


def _promise(result: Result) -> str:
    """What the theory said before the run, in words."""
    if math.isinf(result.bound.epochs):
        return "nothing: no theorem here speaks of this method"
    said = f"{result.bound.epochs:.4g} epochs by Theorem {result.bound.theorem}"
    return said if result.bound.covered else f"{said}, which does not cover this sampling and step (for comparison)"


def _warn(status: Status, target: Path) -> None:
    if status is Status.CONVERGED:
        return
    if status is Status.INTERRUPTED:
        said = f"Interrupted: the best answer so far is in {target}."
    else:
        said = f"warning: the model was saved, but it is not as accurate as asked. {_SENTENCES[status]}"
    console(stderr=True).print(said, style="yellow", soft_wrap=True)
