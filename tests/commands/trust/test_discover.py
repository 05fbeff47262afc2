"""The command discover writes what the library finds, with names."""

import pandas as pd
import pytest

from tests.support.cli import strict_json


@pytest.mark.parametrize("by", ["score", "probability"])
@pytest.mark.parametrize("ending", ["tsv", "csv", "parquet"])
def test_files(call, bundled, tmp_path, by, ending):
    out = tmp_path / f"new.{ending}"
    call("discover", "umls-complex", "--k", 20, "--by", by, "--out", out)
    read = {"tsv": lambda p: pd.read_csv(p, sep="\t"), "csv": pd.read_csv}
    table = read.get(ending, pd.read_parquet)(out)
    run = bundled("umls-complex")
    wanted = run.graph.with_names(run.discover(20, by, types="seen", loops=False))
    more = ["softmax", "probability"] if by == "probability" else []
    assert list(table.columns) == ["head", "relation", "tail", "score", *more]
    pd.testing.assert_frame_equal(table, wanted, check_dtype=False)


def test_json_of_what_a_split_hides(call, bundled):
    options = ["--k", 30, "--known", "train", "--per-relation", 2, "--json"]
    found = strict_json(call("discover", "umls-complex", *options))
    rows = pd.DataFrame(found["triples"])
    assert (found["known"], found["per_relation"]) == ("train", 2)
    assert rows["relation"].value_counts().max() <= 2
    assert set(rows["recorded"]) <= {"valid", "test", "none"}
    assert {"valid", "test"} & set(rows["recorded"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--k", 0], "between 1"),
        (["--by", "luck"], "luck"),
        (["--relation", "afects"], "afects"),
        (["--known", "none"], "none"),
    ],
)
def test_refused(refused, options, message):
    assert message in refused("discover", "umls-complex", *options)
