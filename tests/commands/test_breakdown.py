"""The command breakdown prints what the library computes."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.cli import app
from kgdash.ranking.metric_lookup import find_metric
from kgdash.statistics.estimate import number
from tests.support.cli import strict_json, without_nan

OPTIONS = ["--by", "cardinality", "--metric", "hits_at_7", "--rank-type", "pessimistic"]


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-transe")


def test_json(call, umls):
    found = strict_json(call("breakdown", "umls-transe", *OPTIONS, "--seed", 3, "--json"))
    table = breakdown(
        add_rank_facts(umls.ranks(), umls.graph), "cardinality", "hits_at_7", "pessimistic", seed=3
    )
    assert found["groups"] == without_nan(table.to_dict("records"))
    assert (found["run"], found["filter"], found["by"]) == (
        "umls-transe",
        "train+valid+test",
        "cardinality",
    )


def test_verdict(call, umls):
    """Of each side, against all ranks of it."""
    found = strict_json(call("breakdown", "umls-transe", "--metric", "hits@7", "--json"))["verdict"]
    ranks, hits = umls.ranks(), find_metric("hits_at_7").ratio
    table = breakdown(add_rank_facts(ranks, umls.graph), "relation", "hits_at_7")
    for side, wanted in (("head", ["head"]), ("both", ["head", "tail"])):
        rows = table[(table["side"] == side) & ~table["small"]]
        worst = rows["group"][rows["value"].idxmin()]
        assert found[side].startswith(f"Hits@7 is worst in {worst}, ")
        of_side = ranks["realistic"][ranks["side"].isin(wanted)].to_numpy()
        assert f"all together ({number(hits.value(of_side, None))})" in found[side]


def test_table_and_file(call, umls, tmp_path):
    out = tmp_path / "table.csv"
    call("breakdown", "umls-transe", "--split", "valid", "--level", "0.9", "--out", out)
    table = breakdown(
        add_rank_facts(umls.ranks("valid"), umls.graph), "relation", level=0.9
    ).reset_index(drop=True)
    pd.testing.assert_frame_equal(
        pd.read_csv(out), table, check_dtype=False, check_exact=False, rtol=1e-12
    )
    printed = call("breakdown", "umls-transe", "--split", "valid", "--level", "0.9")
    assert printed.splitlines()[0].split("\t") == list(table.columns)
    assert len(printed.splitlines()) == len(table) + 1


def test_metrics_by_the_names_that_people_use(call):
    found = strict_json(
        call("breakdown", "umls-transe", "--by", "pattern", "--metric", "Mean rank", "--json")
    )
    assert found["metric"] == "arithmetic_mean_rank"
    assert found["groups"][0]["value"] > 1


@pytest.mark.parametrize(
    ("asked", "groups"),
    [
        (["breakdown", "umls-transe"], 46),
        (["compare", "umls-transe", "umls-rotate", "--by", "relation", "--table", "groups"], 92),
    ],
)
def test_what_takes_minutes_is_told_before(monkeypatch, asked, groups):
    """16,000 groups by z_geometric_mean_rank took 155 s, of two runs 365 s, without a word."""
    for metric, most, told in (
        ("z_geometric_mean_rank", groups - 1, True),
        ("mrr", 10, False),
        ("z_geometric_mean_rank", groups, False),
    ):
        monkeypatch.setattr("kgdash.commands.groupings._MANY", most)
        result = CliRunner().invoke(app, [*asked, "--metric", metric])
        assert (f"computed group by group, of {groups}: minutes" in result.stderr) == told
