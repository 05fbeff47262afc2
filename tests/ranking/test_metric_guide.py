"""The metric guide's tables."""

import pytest

from kgdash.ranking.metric_guide import guide_table, plain_and_adjusted, uses_table
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import metrics


@pytest.fixture(scope="module")
def values(bundled):
    return metrics(bundled("umls-rotate").ranks()).values()


def test_every_metric_with_its_value(values):
    table = guide_table(values).set_index("key")
    assert sorted(table.index) == sorted(values)
    assert table["value"].to_dict() == values
    depends = table["depends on |E|"] == "yes"
    assert depends.tolist() == sorted(depends, reverse=True)
    for key, info in metric_records().items():
        row = table.loc[key]
        assert (row["formula"], row["range"], row["use"]) == (
            info.formula,
            info.value_range,
            info.use,
        )
        assert row["direction"] == (
            "" if key == "count" else f"{'higher' if info.increasing else 'lower'} is better"
        )
    assert "value" not in guide_table()


def test_every_metric_says_when_to_use_it():
    uses = {key: info.use for key, info in metric_records((1, 7)).items()}
    assert all(use.endswith(".") for use in uses.values())
    assert uses["hits_at_7"] == uses["hits_at_1"] != uses["adjusted_hits_at_k"]
    assert len(set(uses.values())) > 15
    table = uses_table().set_index("when to use it")["metric"]
    assert table[uses["hits_at_7"]] == "Hits@1, Hits@3, Hits@5, Hits@10"
    assert table.index.tolist() == guide_table()["use"].drop_duplicates().tolist()


def test_plain_beside_adjusted(values):
    table = plain_and_adjusted(values).set_index("metric")
    assert table.loc["Mean rank (MR) ↓"].tolist() == [
        values["arithmetic_mean_rank"],
        values["adjusted_arithmetic_mean_rank_index"],
        values["z_arithmetic_mean_rank"],
    ]
    assert table.loc["Hits@10 ↑"].tolist() == [
        values["hits_at_10"],
        values["adjusted_hits_at_k"],
        values["z_hits_at_k"],
    ]
    assert len(table) == 4
