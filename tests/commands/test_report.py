"""The commands report, chart and metrics --latex: the library's files, and refusals."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.charts.classification import CALIBRATION_NAMES
from kgdash.charts.export import FigureSize, figure_bytes
from kgdash.charts.message import message_of
from kgdash.charts.separation import MEASURE_NAMES
from kgdash.graph.restriction import Restriction
from kgdash.ranking.latex_table import latex_table
from kgdash.ranking.main_table import main_table
from kgdash.ranking.metrics import metrics
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports import named_charts
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.content import report_content
from kgdash.reports.evaluation import evaluation
from kgdash.reports.html import report_html
from kgdash.reports.named_charts import NAMED_CHARTS, draw_chart, in_order
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import separation
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances
from tests.support.cli import run_cli
from tests.support.report_page import read_page, table
from tests.support.tiny_runs import altered_run


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-transe")


def arguments_of(command: str) -> list[str]:
    package, *arguments = shlex.split(command)
    assert package == "kgdash"
    return arguments


class TestReport:
    def test_is_the_library_s(self, call, umls, tmp_path):
        out = tmp_path / "new" / "report.html"
        options = ["--split", "valid", "--metric", "hits_at_3", "--rank-type", "optimistic"]
        said = call("report", "umls-transe", out, *options)
        assert re.fullmatch(r"wrote .*report\.html \(0\.\d MB\)\n", said)
        content = report_content(umls, RankSetting("valid", rank_type="optimistic"), "hits_at_3")
        same = out.read_text(encoding="utf-8") == report_html(content)
        assert same, "no diff: these are megabytes"

    def test_date(self, call, tmp_path):
        call("report", "umls-transe", tmp_path / "r.html", "--date")
        text = read_page((tmp_path / "r.html").read_text(encoding="utf-8")).text
        assert re.search(r"Made \d{4}-\d\d-\d\d \d\d:\d\d UTC\.", text)

    def test_the_commands_in_it_give_its_numbers(self, call, umls, tmp_path):
        content = report_content(umls, metric="arithmetic_mean_rank")
        page = read_page(report_html(content))
        (found,) = [group for group in content.groupings if group.by == "pattern"]
        printed = self._run(call, found.command)
        rows = pd.DataFrame([line.split("\t") for line in printed.splitlines()[1:]])
        rows.columns = printed.splitlines()[0].split("\t")
        both = rows[rows["side"] == "both"]
        shown = table(page, "Mean rank (MR) by pattern")
        assert both["value"].tolist() == [row["both"] for row in shown]
        assert both["low"].tolist() == [row["low"] for row in shown]
        assert self._run(call, content.commands["Raw metrics"])
        assert "\\toprule" in self._run(call, content.commands["The main table for LaTeX"])

    @staticmethod
    def _run(call, command: str) -> str:
        return call(*arguments_of(command))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["umls-transe", "r.pdf"], "expected an output file in .html or .htm; found r.pdf"),
            (["umls-trans", "r.html"], "unknown run 'umls-trans'"),
            (["umls-transe", "r.html", "--split", "dev"], "unknown split 'dev'"),
            (["umls-transe", "r.html", "--metric", "mrx"], "unknown metric 'mrx'"),
        ],
    )
    def test_refusals(self, refused, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        assert refused("report", *arguments).startswith(message)


class TestEveryFigureIsMadeByItsCommand:
    """Run as they stand in the report."""

    @pytest.fixture(scope="class")
    def content(self, umls):
        return report_content(umls, RankSetting("valid", rank_type="optimistic"), "hits_at_3")

    @pytest.fixture(scope="class")
    def tables(self, content):
        """Return the tables of a section, with the commands beneath."""
        return {
            section.title: [(part.command, part.table) for part in section.shown if not part.name]
            for section in content.trust
        }

    def test_charts(self, call, content, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        drawn: list = []
        monkeypatch.setattr(
            "kgdash.charts.export.write_figure", lambda figure, out, **_: drawn.append(figure)
        )
        parts = [part for section in content.trust for part in section.shown if part.name]
        assert len(parts) == 7
        for part in (*parts, *content.charts.values()):
            call(*arguments_of(part.command))
            assert drawn.pop().to_json() == part.chart.to_json(), part.command

    def test_values_and_communities(self, call, tables):
        (command, values), (same, communities) = tables["Where it can be trusted"]
        assert command == same
        told = json.loads(call(*arguments_of(command)))
        expected = [told["values"][key] for key in ("mrr", "hits_at_1", "hits_at_10", "relik")]
        for column, key in (("value", "value"), ("low", "low"), ("triples", "n")):
            assert values[column].tolist() == [row[key] for row in expected]
        for column, key in (
            ("community", "label"),
            ("mean ReliK", "relik"),
            ("test triples", "evaluated"),
        ):
            assert communities[column].tolist() == [row[key] for row in told["communities"]]

    def test_weakest_relations(self, call, tables):
        ((command, table),) = tables["Weakest relations"]
        printed = self._rows(call(*arguments_of(command)))
        large = printed[printed["small"] == "False"].head(10)
        assert len(table) == 10
        assert table["relation"].tolist() == large["label"].tolist()
        for column, key in (("mean ReliK", "relik"), ("high", "high"), ("MRR", "mrr")):
            assert table[column].tolist() == large[key].astype(float).tolist()

    def test_local_comparison(self, call, content, tables):
        ((commands, table),) = tables["Local comparison"]
        (section,) = [each for each in content.trust if each.title == "Local comparison"]
        assert len(table) == 3
        for row, command, said in zip(
            table.to_dict("records"), commands.splitlines(), section.text, strict=False
        ):
            told = json.loads(call(*arguments_of(command)))
            assert row["mean ReliK"] == told["relik"]
            assert row["MRR"] == pytest.approx(told["mrr"]["both"], rel=1e-12)
            assert [row["MRR low"], row["MRR high"]] == told["intervals"]["both_mrr"]
            assert row["triples"] == told["counts"]["relik"]
            assert said.endswith(" ".join(told["verdict"]))

    def test_separation(self, call, content, tables):
        ((command, table),) = tables["True and false told apart"]
        (section,) = [each for each in content.trust if each.title == "True and false told apart"]
        told = json.loads(call(*arguments_of(command)))
        assert list(section.text[:-1]) == told["verdict"]
        for measure, rows in told["separation"].items():
            own = table[table["measure"] == MEASURE_NAMES[measure]]
            for column, key in (
                *(("ROC-AUC ↑", "roc_auc"), ("low", "auc_low"), ("true", "n_true")),
                ("by groundings alone", "auc_chance"),
            ):
                assert own[column].tolist() == [row[key] for row in rows]

    def test_calibration(self, monkeypatch, capsys, tables):
        for command, shown in tables["Calibration"]:
            # Some tables come with a note.
            code, out, _ = run_cli(monkeypatch, capsys, arguments_of(command))
            assert code == 0
            printed = self._rows(out).replace(
                CALIBRATION_NAMES | {"f1": "F1", "roc_auc": "ROC-AUC", "pr_auc": "PR-AUC"}
            )
            assert len(printed) == len(shown)
            for column, expected in zip(shown, printed, strict=True):
                values = printed[expected].astype(shown[column].dtype)
                assert shown[column].tolist() == values.tolist()

    @staticmethod
    def _rows(printed: str) -> pd.DataFrame:
        first, *others = (line.split("\t") for line in printed.splitlines())
        return pd.DataFrame(others, columns=first)


class TestCharts:
    @pytest.fixture(scope="class")
    def part(self, umls):
        return ChartSource(evaluation(umls), "virus", 20, 3)

    @pytest.mark.parametrize("name", NAMED_CHARTS)
    def test_every_chart_is_drawn(self, part, name):
        figure = draw_chart(name, part)
        assert len(figure.data)
        assert figure.layout.height

    def test_the_numbers_are_the_library_s(self, umls):
        asked = evaluation(umls, RankSetting("valid", "none", "tail", "pessimistic"), "mr")
        ranks = umls.ranks("valid", filter="none")
        expected = breakdown(
            add_rank_facts(ranks, umls.graph), "relation", "arithmetic_mean_rank", "pessimistic"
        ).query("side == 'tail'")
        bars = draw_chart("breakdown-by-relation", ChartSource(asked)).data[0]
        drawn = dict(zip(bars.customdata, bars.x, strict=True))
        values = expected.set_index("group")["value"]
        assert drawn == {group: values[group] for group in drawn}
        assert in_order(asked, "relation")["triples"].is_monotonic_decreasing
        assert in_order(asked, "head_degree")["group"].tolist() == list(
            dict.fromkeys(asked.breakdown("head_degree").query("side == 'tail'")["group"])
        )
        heights = {bar.name: bar.y for bar in draw_chart("metrics", ChartSource(asked)).data}
        of_all = metrics(ranks)
        assert heights == {
            "realistic": tuple(of_all.value("mr", side, "realistic") for side in of_all.sides)
        }, "no scores are equal"
        ecdf = draw_chart("ranks", ChartSource(asked))
        both = ecdf.data[-1]
        assert both.y[0] == np.mean(ranks["pessimistic"] == both.x[0])

    def test_the_numbers_of_a_subgraph(self, part, umls):
        expected = compare(umls, umls.subgraph("virus", size=20, seed=3))
        bars = draw_chart("subgraph-figures", part).data[0]
        assert list(bars.x) == [value for value, _ in expected.means.values()]
        dots = draw_chart("subgraph-relik", part).data
        evaluated = expected.triples.dropna(subset="reciprocal_rank")
        assert sorted(x for trace in dots for x in trace.x) == sorted(evaluated["relik"])
        nodes = draw_chart("subgraph", part).data[-1]
        assert len(nodes.x) == 20

    @pytest.mark.parametrize(
        ("kind", "sampled"),
        [
            ("queries", lambda graph: sample_queries(graph, QuerySampling(seed=3))),
            ("rules", lambda graph: find_instances(graph, RuleSelection(seed=3))),
        ],
    )
    def test_the_numbers_of_instances(self, part, umls, kind, sampled):
        scored = score_instances(umls, sampled(umls.graph))
        expected = separation(scored.table, "relik").set_index("group")
        drawn = draw_chart(f"{kind}-thresholds", part).data
        assert drawn[0].x[0] == scored.table["relik_max"].min()
        means = draw_chart(f"{kind}-means", part).data
        for trace in means:
            values = expected.loc[list(trace.customdata), f"mean_{trace.name}"]
            np.testing.assert_array_equal(np.array(trace.x, dtype=float), values)
        relik, reciprocal, _, *alone = draw_chart(f"{kind}-auc", part).data
        for mark in alone:
            values = expected.loc[list(mark.customdata), "auc_chance"]
            np.testing.assert_array_equal(np.array(mark.x, dtype=float), values)
        groups = list(relik.customdata)
        np.testing.assert_array_equal(
            np.array(relik.x, dtype=float), expected.loc[groups, "roc_auc"]
        )
        other = separation(scored.table, "reciprocal_rank").set_index("group")
        np.testing.assert_array_equal(
            np.array(reciprocal.x, dtype=float), other.loc[groups, "roc_auc"]
        )

    def test_losses_need_no_ranks(self, umls, monkeypatch):
        monkeypatch.setattr(type(umls), "ranks", None)
        assert draw_chart("losses", ChartSource(evaluation(umls))).data[0].y == tuple(
            umls.training["losses"]
        )

    def test_command(self, call, umls, tmp_path):
        out = tmp_path / "chart.html"
        options = ["--side", "head", "--metric", "hits_at_1", "--dark", "--height", 500]
        said = call("chart", "umls-transe", "breakdown-by-cardinality", out, *options)
        assert said == f"wrote {out}\n"
        asked = evaluation(umls, RankSetting(side="head"), "hits@1")
        figure = draw_chart("breakdown-by-cardinality", ChartSource(asked))
        same = out.read_bytes() == figure_bytes(
            figure, ".html", "chart", dark=True, size=FigureSize(height=500)
        )
        assert same, "no diff: these are megabytes"

    def test_command_draws_vectors(self, call, tmp_path, monkeypatch):
        """A browser draws such charts in the tests of `kgdash.charts.export`."""
        asked: list = []
        monkeypatch.setattr(
            "kgdash.charts.export._drawn", lambda *a: asked.append(a) or b"<svg></svg>"
        )
        call("chart", "umls-transe", "losses", tmp_path / "losses.svg", "--width", 640)
        ((figure, options),) = asked
        described = f"<svg><desc>{message_of(figure)}</desc></svg>"
        assert (tmp_path / "losses.svg").read_text(encoding="utf-8") == described
        assert (options["format"], options["width"]) == ("svg", 640)
        assert figure.layout.yaxis.title.text == "training loss"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["loss", "c.svg"], "unknown chart 'loss' in kgdash (39 known); did you mean 'losses'"),
            (["losses", "c.bmp"], "expected an output file in .html, .svg, .png or .pdf; found"),
            (["losses", "c.html", "--side", "relation"], "unknown side 'relation'"),
            (["subgraph", "c.html"], "charts of a subgraph need the entity that it is around"),
            (["subgraph", "c.html", "--entity", "viruss"], "unknown entity 'viruss'"),
            (
                ["losses", "c.html", "--width", "0"],
                "expected sizes above 0, sides of at most 65,535",
            ),
            (["losses", "c.png", "--scale", "99"], "expected at most 70,000,000 pixels"),
        ],
    )
    def test_refusals(self, refused, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        assert refused("chart", "umls-transe", *arguments).startswith(message)

    def test_an_unknown_chart_lists_all(self, refused):
        told = refused("chart", "umls-transe", "x", "x.html")
        assert all(name in told for name in named_charts.NAMED_CHARTS)


class TestLatex:
    def test_printed_and_written(self, call, umls, tmp_path):
        printed = call("metrics", "umls-transe", "--latex", "--filter", "none")
        table_of = main_table({"umls-transe": metrics(umls.ranks(filter="none"))})
        caption = re.search(r"\\caption\{(.*)\}", printed)[1]
        assert caption.startswith(
            "Link prediction by umls-transe on umls, test split: 661 triples, raw, 135 candidate"
        )
        assert printed.replace(caption, "x") == latex_table(table_of, "x")
        out = tmp_path / "table.tex"
        assert call("metrics", "umls-transe", "--out", out, "--filter", "none") == f"wrote {out}\n"
        assert out.read_text(encoding="utf-8") == printed

    def test_beside_another_run_restricted(self, call, umls, bundled):
        printed = call("metrics", "umls-transe", "--with", "umls-distmult", "--relation", "affects")
        relations = [umls.graph.relation_id("affects")]
        runs = {
            name: metrics(bundled(name).ranks(restriction=Restriction(relations=relations)))
            for name in ("umls-transe", "umls-distmult")
        }
        expected = latex_table(main_table(runs), "x")
        assert re.sub(r"(\\caption)\{.*\}", r"\1{x}", printed) == expected
        assert "110 triples" in printed

    def test_refusals(self, refused, tmp_path, umls):
        other = altered_run(tmp_path / "other", splits={"test": umls.graph.splits["test"][:5]})
        assert "is of another graph than umls-transe" in refused(
            "metrics", "umls-transe", "--with", other
        )
        assert refused("metrics", "umls-transe", "--with", "umls-transe").startswith(
            "two runs are called umls-transe"
        )
        told = refused("metrics", "umls-transe", "--latex", "--out", "x.csv")
        assert told == "expected an output file in .tex for LaTeX; found x.csv"
        told = refused("metrics", "umls-transe", "--out", "x.txt")
        assert told == "expected an output file in .csv, .tsv, .parquet or .tex; found x.txt"
