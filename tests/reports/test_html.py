"""The report: its numbers are the library's, names stay text, nothing comes from outside."""

import base64
import gzip
import hashlib
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from plotly.offline import get_plotlyjs_version

import kgdash
from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.errors import KgdashError
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import metrics
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports import groups as report_groups
from kgdash.reports.content import report_content
from kgdash.reports.html import report_html, table_rows, write_report
from kgdash.runs.bundled import DEMO
from kgdash.studies.overview.steps import overview_steps
from tests.support.checks import check_progress
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer
from tests.support.report_page import read_page, table

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'&amp;{{ 7 * 7 }}",
    "<!--",
    "</title></style>",
)


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-transe")


@pytest.fixture(scope="module")
def content(umls):
    return report_content(umls)


@pytest.fixture(scope="module")
def html(content):
    return report_html(content)


@pytest.fixture(scope="module")
def page(html):
    return read_page(html)


def tiny(labels=None, scorer=None, **changes):
    """Make a run of a few relations and entities, with its losses."""
    rng = np.random.default_rng(0)
    triples = np.unique(rng.integers(0, [9, 5, 9], size=(80, 3)), axis=0)
    rng.shuffle(triples)
    graph = make_graph(triples[:50], triples[50:55], triples[55:], 9, 5)
    if labels:
        names = tuple(labels[n % len(labels)] + str(n // len(labels)) * (n >= len(labels))
                      for n in range(9))  # fmt: skip
        graph = replace(graph, name=labels[0], entity_labels=names, relation_labels=names[:5])
    run = fake_run(graph, scorer or random_scorer(9, 5))
    return replace(run, training={"losses": [2.0, 1.0]}, **changes)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def floats(rows, column):
    return [float(row[column] or "nan") for row in rows]


class TestNumbers:
    def test_main_metrics_filtered_and_raw(self, page, umls):
        rows = table(page, "Main metrics: TransE on umls, test split: 661 triples, filtered by")
        assert len(rows) == 2 * 3 * 3
        for known, filter in (("filtered", None), ("raw", "none")):
            values = metrics(umls.ranks(filter=filter))
            for row in rows:
                if row["known triples"] != known:
                    continue
                expected = values.values(row["side"], row["ranks"])
                for column, key in (
                    ("MRR ↑", "inverse_harmonic_mean_rank"),
                    ("Hits@1 ↑", "hits_at_1"),
                    ("MR ↓", "arithmetic_mean_rank"),
                    ("MedR ↓", "median_rank"),
                    ("AMRI ↑", "adjusted_arithmetic_mean_rank_index"),
                ):
                    assert float(row[column]) == expected[key]
        assert [row["known triples"] for row in rows] == ["filtered"] * 9 + ["raw"] * 9

    def test_all_metrics(self, page, umls):
        rows = table(page, "All rank-based metrics, filtered by train+valid+test")
        values, guide = metrics(umls.ranks()), metric_records()
        assert [row["metric"] for row in rows] == [
            f"{info.label} {info.arrow}".strip() for info in guide.values()
        ]
        for row, key in zip(rows, guide, strict=True):
            for side, kind in values.frame.columns:
                assert float(row[f"{side}, {kind}"]) == values.value(key, side, kind)

    @pytest.mark.parametrize("by", report_groups.REPORTED)
    def test_groups(self, page, umls, by):
        rows = table(page, f"Mean reciprocal rank (MRR) by {by.replace('_', ' ')}")
        expected = breakdown(add_rank_facts(umls.ranks(), umls.graph), by)
        assert {row["group"] for row in rows} == set(expected["group"])
        cells = expected.set_index(["group", "side"])
        for row in rows:
            both = cells.loc[(row["group"], "both")]
            assert int(row["triples"]) == both["triples"]
            assert row["size"] == ("small" if both["triples"] < 30 else "")
            for side in ("head", "tail", "both"):
                if (row["group"], side) in cells.index:
                    assert float(row[side]) == cells.loc[(row["group"], side), "value"]
                else:
                    assert row[side] == ""
            for column, name in (("low", "low"), ("high", "high"), ("gap by ties", "gap")):
                np.testing.assert_equal(float(row[column] or "nan"), both[name])
            assert float(row["tied %"]) == 100 * both["tied_share"]

    def test_the_best_and_the_worst_relations(self, content, umls):
        (found,) = [g for g in content.groupings if g.by == "relation"]
        expected = breakdown(add_rank_facts(umls.ranks(), umls.graph), "relation").query(
            "side == 'both'"
        )
        values = np.sort(expected["value"])
        assert found.best["both"].tolist() == values[::-1][:10].tolist()
        assert found.worst["both"].tolist() == values[:10].tolist()
        assert found.groups["triples"].is_monotonic_decreasing

    def test_where_low_is_good_the_best_are_the_lowest(self, umls):
        of_mean_rank = report_content(umls, metric="arithmetic_mean_rank")
        (found,) = [g for g in of_mean_rank.groupings if g.by == "relation"]
        assert found.best["both"].tolist() == sorted(found.groups["both"])[:10]
        assert found.worst["both"].iloc[0] == found.groups["both"].max()

    def test_cards(self, page):
        assert "Mean reciprocal rank (MRR) ↑0.754raw 0.202" in page.text

    def test_it_says_where_the_run_can_be_trusted(self, page, umls):
        found = list(overview_steps(umls))[-1]
        for sentence in (*found.verdict, *(lead.text for lead in found.leads)):
            assert sentence.replace("**", "") in page.text
        rows = table(page, "ReliK and MRR by community")
        assert [row["community"] for row in rows] == found.communities["label"].tolist()
        assert "kgdash overview umls-transe" in page.text

    def test_what_the_figures_hold(self, page, umls):
        figures = {
            attributes["id"]: json.loads(text)
            for attributes, text in page.scripts
            if attributes.get("type") == "application/json"
        }
        assert len(figures) == 10 + len(report_groups.REPORTED)
        drawn = {trace["name"]: trace["y"] for trace in figures["chart-metrics"]["data"]}
        values = metrics(umls.ranks())
        for kind in drawn:
            assert drawn[kind] == [values.value("mrr", side, kind) for side in values.sides]
        losses = figures["chart-losses"]["data"][0]["y"]
        assert losses == umls.training["losses"]

    def test_facts_and_commands(self, page, umls):
        for fact in (umls.weights_digest, umls.graph.digest, "sLCWA", "nssa", "5,216"):
            assert fact in page.text
        assert "kgdash metrics umls-transe --split test --filter" in page.text
        for info in metric_records().values():
            assert info.formula in page.text

    def test_the_main_metrics_name_the_command_of_the_raw_ones_too(self, html):
        commands = (f"kgdash metrics umls-transe --split test --filter {each} --json"
                    for each in ("train+valid+test", "none"))  # fmt: skip
        assert html.count("\n".join(commands)) == 2


class TestOneFile:
    def test_nothing_comes_from_outside(self, page):
        assert all(address.startswith("#") for address in page.addresses)
        assert not {"img", "link", "iframe", "object", "form", "base"} & set(page.tags)

    def test_the_policy_admits_its_two_scripts_only(self, page):
        policy = page.meta["Content-Security-Policy"]
        ((size, packed),) = [
            (int(a["data-bytes"]), text) for a, text in page.scripts if a.get("id") == "library"
        ]
        library = gzip.decompress(base64.b85decode(packed.replace(",", "<"))[:size]).decode()
        assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}\n" in library
        own = [text for attributes, text in page.scripts if not attributes.get("type")]
        run_by_browsers = [library, *own]
        digests = [
            "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
            for text in run_by_browsers
        ]
        assert len(digests) == 2
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["script-src"].split() == digests
        assert rules["default-src"] == "'none'"
        assert not re.search("https?:", policy)

    def test_it_is_small(self, html):
        assert len(html) < 1e6

    def test_the_same_run_gives_the_same_bytes_wherever_it_lies(self, html, tmp_path):
        again = digest(report_html(report_content(kgdash.load("umls-transe"))))
        assert again == digest(html), "no diff: these are megabytes"
        texts = []
        for place in ("here", "there"):
            shutil.copytree(DEMO / "umls-distmult", tmp_path / place / "mine")
            run = kgdash.load(tmp_path / place / "mine")
            texts.append(report_html(report_content(run)))
        assert digest(texts[0]) == digest(texts[1])
        assert texts[0].find(str(tmp_path)) == -1
        assert texts[0].find("path/to/mine") > 0

    def test_a_time_only_where_asked_for(self, content, html):
        assert html.find("Made 2031") == -1
        assert report_html(content, "2031-02-03").find("Made 2031-02-03.") > 0


class TestNames:
    def test_hostile_names_are_text(self):
        run = tiny(HOSTILE, name=HOSTILE[0], notes=(HOSTILE[1],))
        page = read_page(report_html(report_content(run)))
        assert len([a for a, _ in page.scripts if not a.get("type")]) == 1
        assert "img" not in page.tags
        assert "Local comparison" in page.text
        assert page.tags.count("title") == page.tags.count("style") == 1
        groups = [row["group"] for row in table(page, "Mean reciprocal rank (MRR) by relation")]
        assert set(groups) == set(run.graph.relation_labels)
        assert HOSTILE[1] in page.text
        assert "{{ 7 * 7 }}" in page.text
        for attributes, text in page.scripts:
            if attributes.get("type") == "application/json":
                json.loads(text)
                assert "<" not in text
        (bars,) = [t for a, t in page.scripts if a.get("id") == "chart-breakdown-by-relation"]
        (trace,) = json.loads(bars)["data"]
        assert set(trace["customdata"]) == set(run.graph.relation_labels)

    def test_no_name_turns_the_figures_beside_it(self):
        names = tuple(f"\u202e19.0 is ReliK\x00{n}" for n in range(5))
        run = tiny(names, name=names[0], notes=(names[1],))
        html = report_html(report_content(run))
        assert not {"\u202e", "\x00"} & set(html)
        assert r"\u202e19.0 is ReliK\x001." in read_page(html).text

    def test_no_losses_and_no_training(self):
        run = replace(tiny(), training={})
        text = read_page(report_html(report_content(run))).text
        assert "The run does not say how it was trained." in text


class TestNotes:
    def test_a_filter_that_lets_test_leak(self, umls):
        notes = report_content(umls, RankSetting("valid", "train+valid+test")).notes
        assert [note for note in notes if note.startswith("Test leaks into these figures")]
        assert not report_content(umls, RankSetting("valid")).notes

    def test_ties_that_blur(self):
        constant = tiny(scorer=FakeScorer(torch.zeros(9, 5, 9)))
        content = report_content(constant)
        (note,) = content.notes
        assert note.startswith("100% of the true answers share their score")
        assert content.ties["tied %"].tolist() == [100.0] * 3
        assert not report_content(tiny()).notes

    def test_training_triples_and_notes_of_the_run(self):
        run = tiny(notes=("3 test triples left out",))
        notes = report_content(run, RankSetting("train")).notes
        assert notes == [
            "3 test triples left out",
            "These are training triples, which flatter the model",
        ]


class TestChoices:
    def test_raw(self, umls):
        content = report_content(
            umls, RankSetting(filter="none", rank_type="pessimistic"), "hits_at_3"
        )
        assert content.raw is None
        assert set(content.main["known triples"]) == {"raw"}
        page = read_page(report_html(content))
        expected = breakdown(
            add_rank_facts(umls.ranks(filter="none"), umls.graph),
            "pattern",
            "hits_at_3",
            "pessimistic",
        ).query("side == 'both'")
        assert floats(table(page, "Hits@3 by pattern"), "both") == expected["value"].tolist()
        assert "All rank-based metrics, raw." in page.tables

    def test_many_groups_are_cut_and_said(self, umls, monkeypatch):
        monkeypatch.setattr(report_groups, "MOST_GROUPS", 5)
        content = report_content(umls)
        (found,) = [g for g in content.groupings if g.by == "relation"]
        assert len(found.groups) == 5
        assert found.left_out == 31
        assert "31 left out" in read_page(report_html(content)).text

    @pytest.mark.parametrize(
        ("choice", "message"),
        [
            ({"split": "dev"}, "unknown split 'dev'"),
            ({"filter": "valid"}, "unknown filter 'valid'"),
            ({"rank_type": "median"}, "unknown rank type 'median'"),
            ({"metric": "mrx"}, "unknown metric 'mrx'"),
            ({"metric": "hits_at_7"}, "unknown metric 'hits_at_7'"),
        ],
    )
    def test_refusals(self, choice, message):
        metric = choice.get("metric", "mrr")
        with pytest.raises(KgdashError, match=message):
            report_content(
                tiny(), RankSetting(**{k: choice[k] for k in choice.keys() - {"metric"}}), metric
            )


def test_progress_rises_to_the_end_and_may_cancel():
    check_progress(lambda progress: report_content(tiny(), progress=progress))


def test_write_report_refuses_other_files(content, tmp_path):
    with pytest.raises(KgdashError, match=r"expected an output file in \.html or \.htm; found"):
        write_report(content, tmp_path / "report.pdf")
    (tmp_path / "file").write_text("")
    with pytest.raises(KgdashError, match="can not write"):
        write_report(content, tmp_path / "file" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_cells_are_sorted_by_the_whole_number():
    table = pd.DataFrame({"a": [1 / 3, np.nan], "b": [12345, 1], "c": ["x", "y"]})
    assert table_rows(table) == [
        [("0.333", repr(1 / 3), True), ("12,345", "12345", True), ("x", "x", False)],
        [("–", "", True), ("1", "1", True), ("y", "y", False)],
    ]
