"""The command protocols prints what the library computes."""

import pandas as pd
import pytest

from kgdash.studies.protocols.orders import protocol_orders
from kgdash.studies.protocols.protocols import ProtocolSetting
from tests.support.cli import strict_json, without_nan

RUNS = ["umls-transe", "umls-complex"]


def test_json(call, bundled):
    found = strict_json(call("protocols", *RUNS, "--negatives", 50, "--k", 5, "--json"))
    theirs = protocol_orders([bundled(name) for name in RUNS], ProtocolSetting((50,), (5,)))
    for name in ("values", "orders", "flips"):
        assert found[name] == without_nan(getattr(theirs, name).to_dict("records"))
    assert (found["runs"], found["negatives"], found["ks"]) == (RUNS, [50], [5])


def test_one_run_and_tables(call, bundled, tmp_path):
    printed = call("protocols", "umls-transe").splitlines()
    assert printed[0].split("\t")[:4] == ["run", "protocol", "metric", "candidates"]
    assert len(printed) == 1 + 5 * 5
    call("protocols", *RUNS, "--table", "orders", "--out", tmp_path / "orders.parquet")
    assert "tau" in pd.read_parquet(tmp_path / "orders.parquet")
    own = bundled("umls-transe").protocols()
    assert [row.split("\t")[1] for row in printed[1:]] == own["protocol"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["umls-transe", "umls-transe"], "same run"),
        (["umls-transe", "--negatives", "0"], "negatives between 1"),
        (["umls-transe", "--side", "relation"], "relation"),
        (["umls-transe", "--split", "tets"], "tets"),
    ],
)
def test_refused(refused, arguments, message):
    assert message in refused("protocols", *arguments)
