"""The results that the commands queries and rules write into a folder."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from kgdash.cli import app
from kgdash.errors import KgdashError
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.instances.separation_report import separation_rows
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries

ARGUMENTS = ["queries", "umls-transe", "--type", "1p", "--per-type", "8"]


def test_text_table_and_charts(bundled, tmp_path):
    typed = [*ARGUMENTS, "--results", str(tmp_path / "new")]
    ended = CliRunner().invoke(app, typed, catch_exceptions=False)
    assert ended.exit_code == 0
    files = {path.name for path in (tmp_path / "new").iterdir()}
    stem = "queries-umls-transe"
    assert files == {f"{stem}{end}" for end in (".md", ".csv", "-means.svg", "-auc.svg")}
    text = (tmp_path / "new" / f"{stem}.md").read_text()
    assert text.startswith("# Queries: TransE on umls\n")
    assert "```sh\npython -m kgdash queries umls-transe --type 1p --per-type 8\n```" in text
    assert str(tmp_path) not in text
    assert f"({stem}-means.svg)" in text
    run = bundled("umls-transe")
    scored = score_instances(run, sample_queries(run.graph, QuerySampling(("1p",), 8)))
    expected = separation_rows(compare_measures(scored.table, order="separation"))
    written = pd.read_csv(tmp_path / "new" / f"{stem}.csv")
    pd.testing.assert_frame_equal(written, expected, rtol=1e-4, check_dtype=False)


def test_without_a_browser_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("kgdash.charts.export.find_browser", lambda: None)
    typed = [*ARGUMENTS, f"--results={tmp_path / 'new'}"]
    with pytest.raises(KgdashError, match="Chromium"):
        CliRunner().invoke(app, typed, catch_exceptions=False)
    assert not (tmp_path / "new").exists()
