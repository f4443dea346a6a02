"""The reproduction at its smallest size, on stand-ins: all panels and files, a cache that works, a whole page."""

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from dualfree.paper import claims, contents, data, figure1, figure3, nonconvex, reproduce, runs
from dualfree.paper.report import Experiment, Store
from dualfree.samplings import Chunks, Nice
from helpers.paper import TINY, tiny_report


@pytest.fixture(scope="module")
def report():
    return tiny_report()


@pytest.fixture
def sources():
    return data.all_sources(TINY)


def test_every_figure_has_its_files_and_its_section(report):
    figures = contents.all_figures(TINY)
    assert [figure.name for figure in figures] == list(contents.NAMES)
    page = report.page.read_text(encoding="utf-8")
    for figure in figures:
        assert f'<section id="{figure.name}">' in page
        with (report.folder / f"{figure.name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["experiment"] for row in rows} == {experiment.name for experiment in figure.experiments}
        if figure.panels:
            assert (report.folder / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
            assert (report.folder / f"{figure.name}.pdf").read_bytes().startswith(b"%PDF")
    assert page.count("<svg") == report.panels
    panels = {figure.name: len(figure.panels) for figure in figures}
    assert [panels[name] for name in ("figure-1", "figure-3", "figure-3-seconds")] == [6, 12, 12]


class Checker(HTMLParser):
    """Every element that is opened is closed, in order, and nothing is fetched from elsewhere."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.references = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attributes)

    def handle_startendtag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href"):
                self.references.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(report):
    text = report.page.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    inside = {reference[1:] for reference in checker.references if reference.startswith("#")}
    assert inside <= set(checker.ids)
    for reference in checker.references:
        if not reference.startswith(("#", "data:")):
            assert (report.folder / reference).exists()
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert "<title>" in text
    assert 'name="viewport"' in text


def test_the_page_says_loudly_that_these_are_stand_ins(report):
    text = report.page.read_text(encoding="utf-8")
    assert "STAND-INS, not the real data" in text
    assert "dualfree reproduce" in text
    assert text.count("stand-in") >= 5


MUST_HOLD = [
    "Waiting time is smaller with chunks on w8a",
    "Waiting time is smaller with chunks on dorothea",
    "Waiting time is smaller with chunks on protein",
    "A smaller λ is slower",
    "Of the serial samplings importance has the best bound",
    "Chunk sampling needs less proxy time on w8a",
    "v_i = τ‖A_i‖² serves",
    "w = (1/λn)",
    "E⁽ᵗ⁾ stays under exp(−θt)E⁽⁰⁾ in expectation, for any sampling",
    "No chunk of Algorithm 2, corrected",
]


@pytest.mark.parametrize("beginning", MUST_HOLD)
def test_claims_that_hold_on_any_data(report, beginning):
    (verdict,) = [verdict for verdict in report.outcome.verdicts if verdict.claim.startswith(beginning)]
    assert verdict.holds, verdict.measured


def test_claims_that_cannot_hold_are_reported_as_such(report):
    verdicts = {verdict.claim: verdict for verdict in report.outcome.verdicts}
    assert len(verdicts) == len(claims.CLAIMS) == len(report.outcome.verdicts)
    assert not verdicts["The datasets have the n, d and density of Table 1."].holds  # smaller, and erratum 7
    assert verdicts["No chunk of Algorithm 2, as printed, exceeds m (erratum 1)."].word == "does not hold"
    with (report.folder / "report-claims.csv").open(encoding="utf-8", newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == [v.word for v in report.outcome.verdicts]


def test_a_second_run_computes_nothing(report):
    assert len(report.outcome.computed) == len(list((report.folder / "raw").iterdir()))
    before = (report.folder / "figure-1.csv").read_bytes()
    again = reproduce(report.folder, TINY, ["table-1", "figure-1"])
    assert again.computed == []
    assert again.page.name == "table-1-figure-1.html"
    assert report.page.read_text(encoding="utf-8").count("<svg") == report.panels  # the whole report is still there
    assert (report.folder / "figure-1.csv").read_bytes() == before
    # Claims agree with what the whole run found.
    whole = {verdict.claim: verdict for verdict in report.outcome.verdicts}
    assert all(whole[verdict.claim] == verdict for verdict in again.verdicts)


def test_an_interrupted_run_continues(tmp_path, monkeypatch):
    stop = figure1.work_of_cores
    calls = []

    def interrupt_at_protein(bound, count, seed=0):
        calls.append(bound.problem.n)
        if bound.problem.n == TINY.rows["protein"]:
            raise KeyboardInterrupt
        return stop(bound, count, seed)

    monkeypatch.setattr(figure1, "work_of_cores", interrupt_at_protein)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, TINY, ["figure-1"])
    assert sorted(path.name.rsplit("-", 1)[0] for path in (tmp_path / "raw").iterdir()) == [
        "figure-1-dorothea",
        "figure-1-w8a",
    ]
    monkeypatch.undo()
    assert reproduce(tmp_path, TINY, ["figure-1"]).computed == ["figure-1-protein"]


def test_ctrl_c_inside_a_run_leaves_no_half_result(tmp_path, sources):
    def press(share, text):
        if share > 0.3:
            raise KeyboardInterrupt

    def compute(watch):
        problem = sources["w8a"].problem()
        return runs.run(problem, 0.0, "a", epochs=10, sampling="uniform", step="theorem-2", watch=press).raw()

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.fetch(Experiment("a", {}, compute), lambda share, text: None)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_result_is_computed_again(tmp_path):
    store = Store(tmp_path)
    experiment = Experiment("a", {"x": 1}, lambda watch: {"numbers": (1.0, float("inf"))})
    assert store.fetch(experiment, print) == {"numbers": [1.0, np.inf]}
    path = store.path(experiment)
    path.write_text(path.read_text()[:-5])
    assert store.fetch(experiment, print) == {"numbers": [1.0, np.inf]}
    assert store.computed == ["a", "a"]
    assert json.loads(path.read_text())["settings"] == {"x": 1}
    other = Experiment("a", {"x": 2}, experiment.compute)
    assert store.path(other) != path


def test_an_unknown_figure_is_one_clear_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"no figure called 'figure-9'; the names are table-1, figure-1"):
        reproduce(tmp_path, TINY, ["figure-9"])


def test_the_proxy_is_the_one_that_the_paper_defines(sources):
    problem = sources["w8a"].problem()
    nonzeros = np.diff(sources["w8a"].dataset.X.indptr)
    nice, chunks = Nice(5).bind(problem), Chunks(5).bind(problem)
    expected = [0, 0]
    for t in range(40):
        drawn = nice.draw(t, 1, 0)
        expected[0] += max(nonzeros[i] for i in drawn.indices)
        drawn = chunks.draw(t, 1, 0)
        parts = [drawn.indices[a:b] for a, b in zip(drawn.part_start[:-1], drawn.part_start[1:], strict=True)]
        assert len(parts) == 5
        expected[1] += max(nonzeros[part].sum() for part in parts)
    assert runs.proxy_times(nice, [0, 40])[-1] == expected[0]
    assert runs.proxy_times(chunks, [0, 40])[-1] == expected[1]


def test_the_non_convex_problem_is_what_it_says(sources):
    problem, convex = nonconvex.twice(sources["protein"])
    assert not problem.loss.all_convex
    assert (problem.loss.weight < 0).sum() == problem.n // 2
    w = np.random.default_rng(0).normal(size=problem.d)
    assert problem.value(w) == pytest.approx(convex.value(w) / 2, rel=1e-12)


def test_panels_agree_with_the_claims(report):
    """The claim's ratio is the one of the curves in the CSV behind the panels."""
    with (report.folder / "figure-3.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["experiment"] == "figure-3-w8a-5"]
    times = {}
    for name in (figure3.STANDARD, figure3.NEW):
        curve = [(float(row["proxy"]), float(row["suboptimality"])) for row in rows if row["run"] == name]
        times[name] = runs.reached(*zip(*curve, strict=True), figure3.TARGET)
    (verdict,) = [
        v for v in report.outcome.verdicts if v.claim.startswith("Chunk sampling needs less proxy time on w8a")
    ]
    assert f"{times[figure3.STANDARD] / times[figure3.NEW]:.2f} (τ = 5)" in verdict.measured
