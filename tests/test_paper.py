"""``python -m dualfree.paper`` writes its figures and tables."""

import csv

import pytest
from dualfree.paper.__main__ import main

from dualfree.paper import theorems


def test_everything_is_written_and_every_promise_kept(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{stem}.{end}" for stem in ("theorems", "erratum-1") for end in ("png", "pdf", "csv")}
    assert f"for {theorems.decay_count()} of {theorems.decay_count()} samplings" in capsys.readouterr().out
    with (tmp_path / "theorems.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["theorem"] for row in rows} == {"1", "2"}
    assert all(float(row["mean"]) - 3 * float(row["standard_error"]) <= float(row["proven"]) * 1.001 for row in rows)
    with (tmp_path / "erratum-1.csv").open(encoding="utf-8") as file:
        chunks = list(csv.DictReader(file))
    limit = int(chunks[0]["limit"])
    assert max(int(row["nonzeros"]) for row in chunks if row["algorithm"] == "corrected") <= limit
    assert max(int(row["nonzeros"]) for row in chunks if row["algorithm"] == "printed") > limit
