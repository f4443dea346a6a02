"""One self-contained HTML page: nothing in it is fetched from anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from dualfree.paper.report.drawing import panel_svg
from dualfree.paper.report.parts import Figure, Raw, Table, Verdict
from dualfree.paper.report.tables import all_data, shown

_MOST_ROWS = 400  # of a table behind a figure; the CSV beside the page has all of them


@dataclass
class Page:
    """A page under construction: sections are added in order, and the contents list follows them.

    Attributes
    ----------
    title : str
        Of the page.
    introduction : list of str
        Paragraphs of plain text under the title.
    warning : str
        Shown loudly at the top, if there is one.
    """

    title: str
    introduction: Sequence[str] = ()
    warning: str = ""
    sections: list[tuple[str, str, str]] = field(default_factory=list)  # anchor, title, content

    def add_figure(self, figure: Figure, raws: Mapping[str, Raw], links: Sequence[str]) -> None:
        """A figure: caption, panels, the summary, and the numbers behind it; `links` are files beside the page."""
        own = {experiment.name: raws[experiment.name] for experiment in figure.experiments}
        pictures = "".join(
            f"<figure>{panel_svg(f'{figure.name}-{k}', panel, own[panel.experiment])}</figure>"
            for k, panel in enumerate(figure.panels)
        )
        parts = [f'<p class="caption">{escape(figure.caption)}</p>']
        if pictures:
            parts.append(f'<div class="panels">{pictures}</div>')
        if figure.summary is not None:
            parts.append(html_table(figure.summary(own)))
        parts.append(_numbers(all_data(figure, own)))
        offered = ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in links)
        parts.append(f'<p class="caption">Files: {offered}</p>')
        self.sections.append((figure.name, figure.title, "\n".join(parts)))

    def add_claims(self, verdicts: Sequence[Verdict]) -> None:
        """Each claim, where the paper makes it, what was measured, and the verdict."""
        holding = sum(verdict.holds for verdict in verdicts)
        rows = "".join(
            f"<tr><td>{escape(verdict.claim)}</td><td>{escape(verdict.where)}</td><td>{escape(verdict.measured)}</td>"
            f'<td class="{"holds" if verdict.holds else "fails"}">{verdict.word}</td></tr>'
            for verdict in verdicts
        )
        head = "<tr><th>claim</th><th>where</th><th>measured</th><th>verdict</th></tr>"
        table = f'<div class="scroll"><table class="claims"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
        said = f"<p>{holding} of {len(verdicts)} hold. Each is computed from the results behind the figures below.</p>"
        self.sections.append(("claims", "Claims and verdicts", said + table))

    def add_table(self, anchor: str, title: str, table: Table, note: str = "") -> None:
        """A table with a sentence above it."""
        said = f"<p>{escape(note)}</p>" if note else ""
        self.sections.append((anchor, title, said + html_table(table)))

    def html(self) -> str:
        """The whole page."""
        own = files("dualfree.paper.report")
        style, script = (own.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
        contents = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title, _ in self.sections)
        body = "\n".join(
            f'<section id="{anchor}"><h2>{escape(title)}</h2>\n{content}</section>'
            for anchor, title, content in self.sections
        )
        loud = f'<p class="loud">{escape(self.warning)}</p>' if self.warning else ""
        said = "".join(f"<p>{escape(text)}</p>" for text in self.introduction)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
            f"<title>{escape(self.title)}</title><style>\n{style}</style></head>\n"
            f"<body><h1>{escape(self.title)}</h1>{loud}{said}<nav><h2>Contents</h2><ol>{contents}</ol></nav>\n"
            f'<main>{body}</main><div id="tip" hidden></div><script>\n{script}</script></body></html>\n'
        )


def html_table(table: Table) -> str:
    """A table that scrolls sideways on a narrow screen."""
    numbers = {k for row in table.rows for k, cell in enumerate(row) if _is_number(cell)}
    head = "".join(
        f"<th{' class=number' if k in numbers else ''}>{escape(name)}</th>" for k, name in enumerate(table.header)
    )
    rows = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _cell(value: Any) -> str:
    number = _is_number(value) or value is None
    return f'<td class="number">{shown(value)}</td>' if number else f"<td>{escape(shown(value))}</td>"


def _numbers(table: Table) -> str:
    step = max(1, -(-len(table.rows) // _MOST_ROWS))
    some = "" if step == 1 else f", every {step}th row; the CSV has all {len(table.rows):,}"
    rows = html_table(Table(table.header, table.rows[::step]))
    return f"<details><summary>The numbers behind it{some}</summary>{rows}</details>"
