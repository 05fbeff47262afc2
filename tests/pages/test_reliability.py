"""The page Reliability map shows what `kgdash.studies.reliability.reliability_map` computes."""

import numpy as np
import pandas as pd
import pytest

from kgdash.statistics.estimate import number
from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.pages.driver import cards, choose, choose_folder, messages, open_page, table
from tests.support.tiny_runs import altered_run


@pytest.fixture(scope="module")
def map_(run):
    return reliability_map(run)


def test_regions(run, map_):
    app = open_page("reliability", permutations="39")
    found = scan_regions(map_, RegionScan(largest=67, permutations=39))
    sure = found.table[found.table["p"] <= 0.05]
    assert len(sure)
    relik = map_.relik["relik"]
    shown = cards(app)
    assert shown["Mean ReliK"] == number(relik.mean())
    low, high = ((sure["kind"] == kind).sum() for kind in ("low", "high"))
    said = next(each.value for each in app.main.markdown if "connected region" in each.value)
    assert said.startswith(f"**{low}** connected")
    assert f"**{high}** {'is' if high == 1 else 'are'} more reliable" in said
    ordered = pd.concat([sure[sure["kind"] == "low"], sure[sure["kind"] == "high"]])
    np.testing.assert_array_equal(table(app, "p", "z")["z"], ordered["z"])
    first = found.members[int(ordered.index[0])]
    inside = np.isin(map_.relik[["head", "tail"]], first).all(axis=1)
    drawn = table(app, "fact", "relik")
    assert drawn["relik"].tolist() == sorted(relik[inside])

    choose(app, chance=True, dealt="triples", largest=20)
    found = scan_regions(map_, RegionScan("triples", largest=20, permutations=39))
    rows = table(app, "p", "z")
    low = found.table["kind"] == "low"
    ordered = pd.concat([found.table[low], found.table[~low]])
    np.testing.assert_array_equal(rows["p"], ordered["p"])
    assert rows["label"].tolist() == ordered["label"].tolist()


def test_communities(map_):
    app = choose(open_page("reliability", view="Communities"), resolution=1.5)
    expected = map_.by("communities", resolution=1.5)
    rows = table(app, "relik", "entities")
    for column in ("relik", "low", "high", "typical", "triples", "entities", "mrr"):
        np.testing.assert_array_equal(rows[column], expected[column])
    assert rows["label"].tolist() == expected["label"].tolist()


def test_entities_and_relations(map_):
    app = open_page("reliability", view="Entities")
    expected = map_.by("entity")
    rows = table(app, "relik", "typical")
    assert rows["label"].tolist() == expected["label"].tolist()
    np.testing.assert_array_equal(rows["low"], expected["low"])
    choose(app, small=False)
    assert len(table(app, "relik", "typical")) == (~expected["small"]).sum()
    choose(app, search="VIRus ", small=True)
    assert table(app, "relik", "typical")["label"].tolist() == ["virus"]
    choose(app, view="Relations", search="")
    expected = map_.by("relation")
    np.testing.assert_array_equal(table(app, "relik", "typical")["relik"], expected["relik"])


def test_nothing_stands_out_where_all_is_alike(tmp_path):
    flat = altered_run(tmp_path / "flat", weights=lambda tensor: tensor * 0)
    app = choose_folder(open_page("reliability", permutations="19"), flat)
    assert "No region stands out further than chance may have it (p above 5%)." in messages(app)
    assert cards(app)["Mean ReliK"] == "1.00"
