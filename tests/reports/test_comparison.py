"""The report of several runs: its commands give its numbers, names stay text, nothing is large."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.comparison import comparison_content
from kgdash.reports.html import comparison_html, write_report
from tests.support.checks import check_progress
from tests.support.fakes import fake_run, make_graph, random_scorer
from tests.support.report_page import read_page
from tests.support.report_page import table as table_of

NAMES = ("umls-transe", "umls-distmult", "umls-rotate")
SETTING = RankSetting("test", "train+valid", "tail", "optimistic")


@pytest.fixture(scope="module")
def content(bundled):
    return comparison_content([bundled(name) for name in NAMES], SETTING, "hits@10", seed=2)


@pytest.fixture(scope="module")
def html(content):
    return comparison_html(content)


@pytest.fixture
def printed(call):
    """Run a command as it stands in the report, and read its table."""

    def run(command):
        first, *others = (line.split("\t") for line in run_text(call, command).splitlines())
        return pd.DataFrame(others, columns=first)

    return run


@pytest.fixture
def told(call):
    """Run a command as it stands in the report, and read its JSON."""
    return lambda command: json.loads(run_text(call, command))


def run_text(call, command):
    package, *arguments = shlex.split(command)
    assert package == "kgdash"
    return call(*arguments)


def shown(content, title):
    """Return a section's tables with the commands beneath, by line."""
    (section,) = [
        each
        for sections in content.parts.values()
        for each in sections
        if each.title.startswith(title)
    ]
    return [(p.command.splitlines(), p.table) for p in section.shown if p.table is not None]


def check(table, column, printed):
    assert table[column].tolist() == printed.astype(table[column].dtype).tolist()


class TestCommandsGiveTheNumbers:
    def test_paired_tests_and_verdict(self, content, printed):
        (((command,), table),) = shown(content, "Is the difference")
        rows = printed(command)
        for column, key in (("MRR of a", "mean_a"), ("low", "low"), ("p (Holm)", "p_holm")):
            check(table, column, rows[key])
        means = [*table[["a", "MRR of a"]].to_numpy(), *table[["b", "MRR of b"]].to_numpy()]
        best = max(means, key=lambda row: row[1])[0]
        assert content.verdict.startswith(f"{best} has the highest MRR")

    def test_metrics(self, content, printed):
        (((command,), table),) = shown(content, "Metrics")
        rows = printed(command)
        rows = rows[(rows["side"] == "tail") & (rows["rank_type"] == "optimistic")]
        for column, key in (
            ("MRR ↑", "inverse_harmonic_mean_rank"),
            ("MR ↓", "arithmetic_mean_rank"),
        ):
            check(table, column, rows[rows["metric"] == key]["value"])

    def test_relations_of_the_two_best(self, content, printed):
        (((command,), table),) = shown(content, "Where is each better: umls-rotate and umls-transe")
        rows = printed(command)
        rows = rows[rows["side"] == "tail"].set_index("relation").loc[table["relation"]]
        check(table, "umls-rotate better", rows["wins"])
        check(table, "MRR of umls-transe", rows["mrr_b"])
        check(table, "p (Holm)", rows["p_holm"])
        assert table["triples"].is_monotonic_decreasing

    def test_which_run_to_trust(self, content, told, printed):
        (commands, table), ((parts,), communities) = shown(content, "Which run")
        for command, row in zip(commands, table.to_dict("records"), strict=True):
            values = told(command)["values"]
            assert row["mean ReliK"] == values["relik"]["value"]
            assert row["MRR low"] == values["mrr"]["low"]
        rows = printed(parts)
        check(communities, "mean ReliK", rows["relik"])
        check(communities, "MRR", rows["mrr"])

    def test_weakest_relations(self, content, printed):
        ((commands, table),) = shown(content, "Weakest")
        for command, name in zip(commands, NAMES, strict=True):
            rows = printed(command)
            own = table[table["run"] == name]
            check(own, "mean ReliK", rows[rows["small"] == "False"]["relik"].head(5))

    def test_local_comparison(self, content, told):
        ((commands, table),) = shown(content, "Local")
        for command, row in zip(commands, table.to_dict("records"), strict=True):
            values = told(command)
            assert row["mean ReliK"] == values["relik"]
            assert [row["MRR low"], row["MRR high"]] == values["intervals"]["both_mrr"]

    def test_separation(self, content, told):
        ((commands, table),) = shown(content, "True and false")
        for command, name in zip(commands, NAMES, strict=True):
            found = told(command)["separation"]
            own = table[table["run"] == name]
            assert own["ROC-AUC ↑"].tolist() == [rows[-1]["roc_auc"] for rows in found.values()]
            assert own["low"].tolist() == [rows[-1]["auc_low"] for rows in found.values()]

    def test_calibration(self, content, told):
        ((commands, table),) = shown(content, "Calibration")
        for command, row in zip(commands, table.to_dict("records"), strict=True):
            found = told(command)
            accuracy = found["figures"][0]
            assert (row["accuracy ↑"], row["accuracy ↑ low"]) == (
                accuracy["value"],
                accuracy["low"],
            )
            errors = [each["expected_calibration_error"] for each in found["calibration_errors"]]
            assert [row["ECE ↓"], row["Platt ↓"], row["isotonic ↓"]] == errors

    def test_the_drawn_calibration(self, content, printed):
        drawn = content.parts["Reliability"][-1].shown[0]
        for command, name in zip(drawn.command.splitlines(), NAMES, strict=True):
            rows = printed(command)
            rows = rows[rows["calibration"] == "platt"]
            (line,) = [trace for trace in drawn.chart.data if trace.name == name]
            assert list(line.x) == rows["predicted"].astype(float).tolist()
            assert list(line.y) == rows["observed"].astype(float).tolist()

    def test_the_report_itself(self, content, html, call, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run_text(call, content.command).startswith("wrote comparison.html (0.7 MB)")
        same = (tmp_path / "comparison.html").read_text(encoding="utf-8") == html
        assert same, "no diff: these are megabytes"


def test_one_small_file(html, content):
    page = read_page(html)
    assert len(html) < 1e6
    assert all(address.startswith("#") for address in page.addresses)
    assert len([a for a, _ in page.scripts if a.get("type") == "application/json"]) == 6
    assert page.text.index(content.verdict) < page.text.index("Is the difference")
    assert len(table_of(page, "Paired tests over 661 triples")) == 3
    identifiers = {"comparison", "reliability", "runs", "glossary", "how-it-was-computed"}
    assert {address[1:] for address in page.addresses} == identifiers


def tiny(seed, **changes):
    triples = np.unique(np.random.default_rng(0).integers(0, [9, 5, 9], size=(80, 3)), axis=0)
    graph = make_graph(triples[:50], triples[50:55], triples[55:], 9, 5)
    hostile = tuple(f"<script>{{{{ {n} }}}}</script>" for n in range(9))
    graph = replace(graph, name="<b>", entity_labels=hostile, relation_labels=hostile[:5])
    run = replace(fake_run(graph, random_scorer(9, 5, seed)), name=f"<img src={seed}>")
    return replace(run, weights_digest=str(seed) * 64, notes=("<i>",), **changes)


def test_hostile_names_are_text():
    page = read_page(comparison_html(comparison_content([tiny(0), tiny(1)])))
    assert len([a for a, _ in page.scripts if not a.get("type")]) == 1
    assert not {"img", "b", "i"} & set(page.tags)
    assert "<img src=0>: <i>" in page.text


def test_relik_that_is_not_counted_is_asked_for(monkeypatch):
    monkeypatch.setattr("kgdash.reports.trust_compared.run_relik_known", lambda run: False)
    content = comparison_content([tiny(0), tiny(1)])
    first, *others = content.parts["Reliability"]
    assert "The ReliK of <img src=0>, <img src=1> is not counted yet" in first.text[0]
    assert [section.title for section in others] == ["True and false told apart", "Calibration"]


def test_a_graph_without_what_a_study_needs_says_so():
    def untested(run):
        splits = run.graph.splits
        return replace(
            run, graph=replace(run.graph, splits={**splits, "valid": splits["valid"][:0]})
        )

    content = comparison_content([untested(tiny(0)), untested(tiny(1))])
    calibration = content.parts["Reliability"][-1]
    assert not calibration.shown
    assert "valid" in calibration.text[0]


def test_progress_rises_to_the_end_and_may_cancel():
    check_progress(lambda progress: comparison_content([tiny(0), tiny(1)], progress=progress))


def test_refusals(bundled, tmp_path):
    with pytest.raises(KgdashError, match="unknown metric 'mrx'"):
        comparison_content([tiny(0), tiny(1)], metric="mrx")
    with pytest.raises(KgdashError, match="expected 2 to 8 runs to compare; found 1"):
        comparison_content([bundled("umls-transe")])
    with pytest.raises(KgdashError, match=r"expected an output file in \.html"):
        write_report(comparison_content([tiny(0), tiny(1)]), tmp_path / "x.pdf")
