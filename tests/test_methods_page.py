"""docs/methods.md and ``dualfree methods`` say of each method what its class says."""

from pathlib import Path

from typer.testing import CliRunner

from dualfree.cli import app
from dualfree.methods import METHODS

PAGE = Path(__file__).parent.parent / "docs" / "methods.md"


def row(name):
    about = METHODS[name].about
    facts = (about.title, about.needs, about.memory, about.cost, about.rate, about.origin)
    return f"| `{name}` | {' | '.join(facts)} |"


def test_the_page_has_a_row_for_each_method():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = lines.index("|---|---|---|---|---|---|---|") + 1
    assert lines[first : first + len(METHODS)] == [row(name) for name in METHODS]
    assert not lines[first + len(METHODS)].startswith("|")


def test_the_command_lists_them_all():
    result = CliRunner().invoke(app, ["methods"])
    assert result.exit_code == 0
    said = " ".join(result.output.split())
    for name, kind in METHODS.items():
        assert f"{name}: {kind.about.title}" in said
        assert " ".join(kind.about.origin.split()) in said
