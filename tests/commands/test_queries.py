"""The command ``queries``: where queries come from and what it writes."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kgdash.cli import app
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.queries.beam import Beam
from kgdash.studies.queries.files import read_queries
from kgdash.studies.queries.query_instances import AnswerSampling
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from kgdash.studies.queries.sources import queries_of_file, sample_queries
from tests.support.cli import strict_json
from tests.support.separation import expected_separation

FEW = ("--type", "pi", "--type", "up", "--per-type", "4")


def call(*arguments):
    result = CliRunner().invoke(app, ["queries", "umls-transe", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def assert_table(path, run, instances):
    """Compare a written table with the library's."""
    expected = score_instances(run, instances).table
    table = pd.read_csv(path)
    assert table["question"].tolist() == expected["question"].tolist()
    assert table["answer"].tolist() == expected["answer"].tolist()
    np.testing.assert_allclose(table["relik_mean"], expected["relik_mean"])


def test_other_types_with_the_model_s_intermediates(run, tmp_path):
    out, plausible = tmp_path / "out.csv", tmp_path / "plausible.csv"
    options = ("--intermediates", "model", "--beam", 2, "--backwards", "--max-answers", 60)
    call(*FEW, *options, "--out", out, "--plausible", plausible)
    instances = sample_queries(
        run.graph,
        QuerySampling(("pi", "up"), 4, max_answers=60, follow_backwards=True),
        beam=Beam(run.scorer, 2),
    )
    assert_table(out, run, instances)
    assert (
        not run.graph.known()
        .contains(
            np.array(
                [
                    (run.graph.entity_id(h), run.graph.relation_id(r), run.graph.entity_id(t))
                    for h, r, t in pd.read_csv(plausible)[["head", "relation", "tail"]].to_numpy()
                ]
            )
        )
        .any()
    )


def test_saved_queries_come_back_from_their_file(run, tmp_path):
    saved, out = tmp_path / "queries.tsv", tmp_path / "out.csv"
    call(*FEW, "--seed", 3, "--hard", "outside train+valid", "--save", saved, "--out", out)
    asked = draw_queries(run.graph, QuerySampling(("pi", "up"), 4, "outside train+valid", 3))
    again, _ = read_queries(saved, run.graph)
    for kind, queries in asked.items():
        assert again[kind].anchors.tolist() == queries.anchors.tolist()
        assert again[kind].answers.tolist() == queries.answers.tolist()
        assert again[kind].hard.tolist() == queries.hard.tolist()
    found = json.loads(call("--file", saved, "--type", "up", "--per-type", 3, "--json"))
    instances = queries_of_file(run.graph, saved, ("up",), AnswerSampling(3))
    assert found["notes"] == list(instances.notes)
    assert "hard answers are those outside train+valid" in found["notes"]
    assert {row["n_true"] for row in found["separation"]["relik"]} == {3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--save", "queries.xlsx"), "expected an output file in"),
        (("--save", "some.tsv", "--file", "other.tsv"), "leave one out"),
        (("--intermediates", "both"), "unknown source of intermediates 'both'"),
        (("--type", "4p"), "unknown query type '4p'"),
        (("--file", "nowhere.tsv"), "nowhere.tsv"),
    ],
)
def test_what_can_not_be_is_refused(arguments, message):
    result = CliRunner().invoke(app, ["queries", "umls-transe", *arguments])
    assert result.exit_code != 0
    assert message in (result.output + str(result.exception))


def test_queries(call, run, tmp_path):
    options = ("--type", "2i", "--type", "1p", "--per-type", 8, "--seed", 2)
    found = strict_json(call("queries", "umls-transe", *options, "--aggregate", "mean", "--json"))
    instances = sample_queries(run.graph, QuerySampling(("2i", "1p"), 8, seed=2))
    assert found["separation"] == expected_separation(run, instances, "mean")
    told = "note: true answers need at least one triple outside train\n"
    call("queries", "umls-transe", *options, "--out", tmp_path / "q.csv", told=told)
    table = score_instances(run, instances).table
    assert pd.read_csv(tmp_path / "q.csv")["relik_max"].tolist() == table["relik_max"].tolist()


def test_what_should_be_known_of_queries_is_told_beside_the_numbers():
    """Of queries of other splits 925 of 1,000 had other hard answers, told with --json alone."""
    options = ["queries", "umls-transe", "--type", "1p", "--per-type", "8"]
    assert "note: true answers need at least one" in CliRunner().invoke(app, options).stderr
    assert "note:" not in CliRunner().invoke(app, [*options, "--json"]).stderr
