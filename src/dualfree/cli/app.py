"""The application that the commands join, and what it does with errors: one sentence, exit code 2."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import dualfree

_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)
# Typer has a click of its own since 0.26; this is the base of usage errors in either.
_USAGE_ERROR: Any = typer.BadParameter.__bases__[0]


class Commands(TyperGroup):
    """The group of all commands; it turns what goes wrong in any of them into one sentence on standard error."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run, and exit with 0, 2 after an error, or 130 after Ctrl-C."""
        options["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **options))
        except _USAGE_ERROR as error:
            command = error.ctx.command_path if error.ctx else "dualfree"
            problem = error.format_message().rstrip(".")
            fail(f"{problem}; {command} --help lists what there is.")
        except _EXPECTED as error:
            if os.environ.get("DUALFREE_DEBUG"):
                raise
            fail(_sentence(error))
        except (KeyboardInterrupt, typer.Abort):
            typer.echo("interrupted", err=True)
            sys.exit(130)


def fail(sentence: str) -> None:
    """Print an error and leave with exit code 2."""
    typer.echo(f"error: {sentence}", err=True)
    sys.exit(2)


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    else:
        text = str(error) or type(error).__name__
    return " ".join(text.split()).rstrip(".") + "."


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dualfree {dualfree.__version__}")
        raise typer.Exit


@app.callback()
def dualfree_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Train L2-regularised linear models by dual-free SDCA, with certified answers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
