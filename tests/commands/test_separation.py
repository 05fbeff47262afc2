"""The results that the commands queries and rules write into a folder."""

import pandas as pd
import pytest

from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.instances.separation_report import separation_rows
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from tests.support.cli import run_cli

ARGUMENTS = ["queries", "umls-transe", "--type", "1p", "--per-type", "8"]


@pytest.mark.usefixtures("_bundled_are_loaded")
def test_text_table_and_charts(bundled, tmp_path, monkeypatch, capsys):
    """A browser draws such charts in the tests of `kgdash.charts.export`."""
    monkeypatch.setattr("kgdash.charts.export._drawn", lambda figure, options: b"<svg/>")
    typed = [*ARGUMENTS, "--results", tmp_path / "new"]
    code, _, told = run_cli(monkeypatch, capsys, typed)
    assert (code, told[:6]) == (0, "wrote ")
    files = {path.name for path in (tmp_path / "new").iterdir()}
    stem = "queries-umls-transe"
    assert files == {f"{stem}{end}" for end in (".md", ".csv", "-means.svg", "-auc.svg")}
    text = (tmp_path / "new" / f"{stem}.md").read_text()
    assert text.startswith("# Queries: TransE on umls\n")
    assert "```sh\nkgdash queries umls-transe --type 1p --per-type 8\n```" in text
    assert str(tmp_path) not in text
    assert f"({stem}-means.svg)" in text
    run = bundled("umls-transe")
    scored = score_instances(run, sample_queries(run.graph, QuerySampling(("1p",), 8)))
    expected = separation_rows(compare_measures(scored.table, order="separation"))
    written = pd.read_csv(tmp_path / "new" / f"{stem}.csv")
    pd.testing.assert_frame_equal(written, expected, rtol=1e-4, check_dtype=False)


def test_without_a_browser_nothing_is_written(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("kgdash.files.chromium.find_browser", lambda: None)
    assert "Chromium" in refused(*ARGUMENTS, f"--results={tmp_path / 'new'}")
    assert not (tmp_path / "new").exists()
