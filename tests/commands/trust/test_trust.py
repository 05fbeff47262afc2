"""The command trust writes what the library computes, whole or not at all."""

import numpy as np
import pandas as pd
import pytest

from kgdash.studies.trust.basis import card_basis
from kgdash.studies.trust.triple_table import trust_table

LINES = ["virus\tcauses\tfinding", "virus\tcauses\tdisease_or_syndrome"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "triples.tsv"
    file.write_text("\n".join(LINES) + "\n")
    return file


@pytest.mark.parametrize("extension", ["tsv", "csv", "parquet"])
def test_files(call, path, bundled, extension):
    out = path.with_name(f"out.{extension}")
    said = call("trust", "umls-transe", "--triples", path, "--out", out)
    assert said.endswith(f"wrote 2 rows to {out}\n")
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet}
    read = readers.get(extension, lambda file: pd.read_csv(file, sep="\t"))
    table = read(out)
    graph = bundled("umls-transe").graph
    ids = [
        [graph.entity_id(h), graph.relation_id(r), graph.entity_id(t)]
        for h, r, t in (line.split("\t") for line in LINES)
    ]
    expected = trust_table(card_basis(bundled("umls-transe")), np.array(ids))
    assert table["tail"].tolist() == ["finding", "disease_or_syndrome"]
    for column in ("rank", "probability", "set_size"):
        assert table[column].tolist() == pytest.approx(expected[column].tolist())
    assert table["known"].tolist() == ["none", "train"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("virus\tcauses", "expected 3 columns head, relation, tail; found 2: virus, causes"),
        ("virus\tcauses\tfindin", "unknown entity 'findin' in graph umls"),
    ],
)
def test_wrong_lines(refused, path, line, message):
    path.write_text("\n".join([*LINES, line]))
    told = refused("trust", "umls-transe", "--triples", path, "--out", path.with_name("out.csv"))
    assert told.startswith(message)
    assert "line 3)" in told


def test_refusals(refused, path):
    options = ["trust", "umls-transe", "--triples", path, "--out"]
    assert "expected an output file in" in refused(*options, path.with_name("out.txt"))
    out = path.with_name("out.csv")
    assert refused(*options, out, "--side", "both").startswith("unknown side 'both'")
    path.write_text("")
    assert "holds no triples" in refused(*options, out)
