"""The command reliability prints what the library computes."""

import pandas as pd
import pytest

from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.support.cli import strict_json, without_nan


@pytest.fixture(scope="module")
def umls(bundled):
    return reliability_map(bundled("umls-complex"))


@pytest.mark.parametrize("by", ["entity", "relation", "communities"])
def test_tables(call, umls, tmp_path, by):
    out = tmp_path / "table.parquet"
    options = ["--by", by, "--level", 0.8, "--seed", 3, "--resolution", 1.4]
    call("reliability", "umls-complex", *options, "--out", out)
    expected = umls.by(by, 0.8, 3, 1.4).drop(columns="id")
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected, check_dtype=False)


def test_json(call, umls):
    found = strict_json(call("reliability", "umls-complex", "--by", "relation", "--json"))
    expected = umls.by("relation").drop(columns="id")
    assert found["rows"] == without_nan(expected.to_dict("records"))
    assert (found["by"], found["method"]) == ("relation", "exact")


def test_regions(call, umls):
    options = ["--null-model", "triples", "--largest", 20, "--smallest", 4, "--permutations", 19]
    printed = call("reliability", "umls-complex", "--by", "regions", *options, "--json")
    found = strict_json(printed)
    expected = scan_regions(umls, RegionScan("triples", 4, 20, 19))
    names = umls.run.graph.entities
    assert [row["members"] for row in found["rows"]] == [
        [names[e] for e in own] for own in expected.members
    ]
    for column in ("z", "p", "relik", "triples"):
        assert [row[column] for row in found["rows"]] == expected.table[column].tolist()
    assert found["baseline"] == expected.baseline.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "guess"], "unknown method 'guess'"),
        (["--level", 95], "expected a level between 0 and 1"),
        (["--by", "regions", "--permutations", 0], "expected 2 ≤ smallest ≤ largest"),
        (["--by", "regions", "--null-model", "cards"], "unknown null model 'cards'"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("reliability", "umls-complex", *options).startswith(message)
