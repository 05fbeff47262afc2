"""The command ``rules``: where rules come from, what counts as false, and what it writes."""

import inspect
import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from kgdash.cli import app
from kgdash.commands.rules import rules
from kgdash.runs.loading import load
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.likely_errors import plausible_missing_triples, suspicious_facts
from kgdash.studies.instances.separation import COMPARED, compare_measures
from kgdash.studies.instances.thresholds import judged_thresholds
from kgdash.studies.rules.confidence import METRICS, count_rules, rule_confidence
from kgdash.studies.rules.files import RuleFile
from kgdash.studies.rules.parsing import parse_rule
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances, find_rules
from tests.support.cli import strict_json, without_nan
from tests.support.paths import EXAMPLE
from tests.support.separation import expected_separation

#: of a selection, as options: literals there, since importing it with the commands takes seconds
FIELDS = ("max_rules", "min_pca", "min_support", "order", "per_rule", "seed")

FEW = ("--max-rules", "3", "--per-rule", "4")


def test_defaults_are_those_of_the_selection():
    given = inspect.signature(rules).parameters
    expected = {name: getattr(RuleSelection(), name) for name in FIELDS}
    assert {name: given[name].default for name in FIELDS} == expected


def call(*arguments):
    result = CliRunner().invoke(app, ["rules", "umls-transe", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def graph():
    return load("umls-transe").graph


@pytest.fixture(scope="module")
def rule_file(graph, tmp_path_factory):
    """Write some mined rules as AnyBURL does, with wrong figures."""
    path = tmp_path_factory.mktemp("rules") / "anyburl.txt"
    letters = dict(zip("abh", "XYA", strict=True))
    rows = []
    for text in (
        find_rules(graph, RuleSelection())
        .written()
        .sort_values("support", ascending=False)["rule"]
        .head(8)
    ):
        *body, head = [
            f"{graph.relations[r]}({letters[x]},{letters[y]})"
            for r, x, y in parse_rule(text, graph).atoms
        ]
        rows.append(f"{100 - len(rows)}\t50\t0.5\t{head} <= {', '.join(body)}\n")
    path.write_text("".join(rows) + "9\t9\t0.9\tno_such(X,Y) <= neither(X,Y)\n")
    return path


def groups(printed):
    return {row["group"] for row in json.loads(printed)["separation"]["relik"]} - {"all"}


def test_mined_rules_and_what_is_written(graph, tmp_path):
    rules, table = tmp_path / "rules.csv", tmp_path / "instances.tsv"
    selection = RuleSelection(3, 0.5, 30, 4, "confidence", 3)
    options = ("--min-support", 30, "--order", "confidence", "--min-pca", 0.5, "--seed", 3)
    printed = call(*FEW, *options, "--save-rules", rules, "--save-instances", table, "--json")
    expected = find_instances(graph, selection)
    assert groups(printed) == set(expected.table["group"])
    assert (
        pd.read_csv(rules)["rule"].tolist()
        == find_rules(graph, selection).written()["rule"].tolist()
    )
    pd.testing.assert_frame_equal(read_rule_table(table, graph).table, expected.table)
    again = call("--table", table, "--json")
    assert json.loads(again)["separation"] == json.loads(printed)["separation"]


def test_rules_from_a_file(graph, rule_file, tmp_path):
    out = tmp_path / "rules.tsv"
    options = ("--rules", rule_file, *FEW, "--json", "--save-rules", out)
    result = CliRunner().invoke(app, ["rules", "umls-transe", *map(str, options)])
    assert result.exit_code == 0, result.output
    assert "1 of 9 rules left out, over names that the graph does not have" in result.stderr
    expected = find_instances(graph, RuleSelection(3, per_rule=4), RuleFile(rule_file))
    assert groups(result.stdout) == set(expected.table["group"])
    saved = pd.read_csv(out, sep="\t")
    assert saved["given_support"].tolist() == [50] * 8
    counted = count_rules(graph, [parse_rule(text, graph) for text in saved["rule"]])
    pd.testing.assert_frame_equal(saved[[*METRICS]], counted[[*METRICS]])


def test_what_counts_as_false(graph, tmp_path):
    closed = find_instances(graph, RuleSelection(3, per_rule=50))
    heads = closed.triples[closed.triples["is_answer_triple"] & ~closed.triples["label"]]
    path = tmp_path / "false.tsv"
    named = heads.drop_duplicates("instance")[["head", "relation", "tail"]].to_numpy()
    path.write_text(
        "".join(
            f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}\n" for h, r, t in named
        )
    )
    printed = call(*FEW, "--negatives", path, "--json")
    assert any("false: verified by people" in note for note in json.loads(printed)["notes"])
    expected = find_instances(graph, RuleSelection(3, per_rule=4), negatives=named)
    assert groups(printed) == set(expected.table["group"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--table", EXAMPLE, "--rules", EXAMPLE), "--table holds instances, no rules"),
        (("--negatives", "verified"), "ships no verified negatives"),
        (("--negatives", "verifyed"), "closed-world or verified, or files of false triples"),
        (("--negatives", "verified", "--negatives", "closed-world"), "found 'verified'"),
        (("--order", "size"), "unknown order 'size'"),
        (("--save-rules", "rules.parquet"), "expected an output file in .csv or .tsv"),
        (("--rules", EXAMPLE.with_name("nowhere")), "can not read"),
    ],
)
def test_wrong_options(options, message):
    result = CliRunner().invoke(app, ["rules", "umls-transe", *map(str, options)])
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)


def test_lists_to_check_and_all_figures_of_the_answering_triples(call, run, tmp_path):
    options = ["rules", "umls-transe", "--table", EXAMPLE, "--over", "answering triples"]
    files = ["--suspicious", tmp_path / "s.csv", "--plausible", tmp_path / "c.parquet"]
    found = strict_json(call(*options, *files, "--json"))
    instances = read_rule_table(EXAMPLE, run.graph)
    scored = score_instances(run, instances)
    assert found["separation"] == expected_separation(run, instances, over="answering triples")
    compared = compare_measures(scored.table, COMPARED["answering triples"], order="separation")
    assert found["differences"] == without_nan(compared.differences.to_dict("records"))
    judged = judged_thresholds(scored.table, "relik_answer")
    assert [row["n"] for row in found["thresholds"]["relik_answer"]] == judged["n"].tolist()
    suspicious = suspicious_facts(run.graph, scored)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "s.csv", keep_default_na=False), suspicious, check_dtype=False
    )
    confidence = rule_confidence(run.graph, scored.table["group"].unique())
    plausible = plausible_missing_triples(run.graph, scored, confidence)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "c.parquet"), plausible)
    told = f"note: read from {EXAMPLE}\n"
    assert "# differences of ROC-AUC" in call("rules", "umls-transe", "--table", EXAMPLE, told=told)


def test_rules(call, run):
    found = strict_json(call("rules", "umls-transe", "--max-rules", 2, "--per-rule", 5, "--json"))
    assert found["separation"] == expected_separation(
        run, find_instances(run.graph, RuleSelection(2, per_rule=5))
    )
    found = strict_json(call("rules", "umls-transe", "--table", EXAMPLE, "--json"))
    assert found["separation"] == expected_separation(run, read_rule_table(EXAMPLE, run.graph))
    out = call("rules", "umls-transe", "--table", EXAMPLE, told=f"note: read from {EXAMPLE}\n")
    assert out.startswith(f"# {found['verdict'][0]}\n")
    assert "\n# relik\ngroup\t" in out
