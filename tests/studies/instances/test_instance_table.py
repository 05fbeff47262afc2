import gzip
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files import bounds
from kgdash.graph.datasets import load_dataset
from kgdash.studies.instances import instance_table as rule_table
from kgdash.studies.instances.instance_table import read_rule_table, write_rule_table
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from kgdash.studies.rules.mining import mine_rules
from kgdash.studies.rules.predictions import PredictionSampling, rule_instances
from kgdash.studies.rules.rule_table import Rules
from tests.support.instance_fakes import small_graph
from tests.support.paths import EXAMPLE

HEADER = "rule\tinstance\thead\trelation\ttail\tlabel\n"
GRAPH = small_graph([(0, 0, 1), (1, 1, 2), (0, 1, 2)])
GOOD = HEADER + "A\tx\te0\tr0\te1\ttrue\nA\tx\te0\tr1\te1\ttrue\nA\ty\te1\tr1\te1\tno\n"


def read(text, name="rules.tsv", graph=GRAPH):
    return read_rule_table(text.encode(), graph, name)


def test_a_table_by_hand():
    instances = read(GOOD)
    assert instances.table[["group", "label", "question", "answer"]].to_numpy().tolist() == [
        ["A", True, "r1(e0, ?)", "e1"],
        ["A", False, "r1(e1, ?)", "e1"],
    ]
    assert instances.triples["is_answer_triple"].tolist() == [False, True, True]
    assert instances.triples["relation"].tolist() == [0, 1, 1]


def test_what_is_said_again_under_another_name_counts_once():
    """A table twenty times over had p fall from 0.4 to 0.0003."""
    rows = [line.split("\t") for line in GOOD.splitlines()[1:]]
    again = ["\t".join([rule, f"{name} again", *rest]) for rule, name, *rest in rows]
    more = "\n".join(again) + "\n"
    found, expected = read(GOOD + more), read(GOOD)
    pd.testing.assert_frame_equal(found.triples, expected.triples)
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert found.notes[-1] == "2 repeated under other names of instances, counted once"
    assert len(read(GOOD + more.replace("A\t", "B\t"))) == 4, "another rule says it, too"
    assert len(read(GOOD + more.replace("e0\tr0", "e1\tr0"))) == 3, "for another reason"
    with pytest.raises(KgdashError, match=r"'y again' says what that of line 4 .* another label"):
        read(GOOD + more.replace("no", "yes"))


def test_a_reason_that_stands_twice_makes_no_other_instance():
    header = HEADER[:-1] + "\trole\tgrounding\n"
    body, head = "e0\tr0\te1\ttrue\tbody", "e0\tr1\te1\ttrue\thead"
    rows = [f"A\tx\t{row}\t1" for row in (body, head)]
    rows += [f"A\ty\t{row}\t{way}" for way in "12" for row in (head, body)]
    as_body = head.replace("head", "body")
    rows += [f"A\tz\t{row}\t1" for row in (as_body, body.upper(), head)]
    found = read(header + "\n".join(rows))
    assert found.table["groundings"].tolist() == [1]
    assert found.notes[-1] == "2 repeated under other names of instances, counted once"


def test_answers_of_one_label_are_told_apart():
    graph = replace(GRAPH, entity_labels=("same",) * 3)
    answers = read(GOOD.replace("e1\tno", "e2\tno"), graph=graph).table["answer"]
    assert answers.tolist() == ["same (e1)", "same (e2)"]


def test_the_same_from_csv_bytes_order_of_columns_gz_and_byte_order_mark(tmp_path):
    expected = read(GOOD).triples
    table = pd.read_csv(io.StringIO(GOOD), sep="\t")
    shuffled = table[["label", "tail", "instance", "relation", "rule", "head"]]
    csv = tmp_path / "rules.csv.gz"
    csv.write_bytes(gzip.compress(b"\xef\xbb\xbf" + shuffled.to_csv(index=False).encode()))
    for found in (
        read_rule_table(csv, GRAPH),
        read(GOOD.replace("\n", "\r\n")),
        read(GOOD.replace("\n", "\n\n") + "\n\n"),
        read(GOOD.upper().replace("A\tX", "A\tx").replace("A\tY", "A\ty")),
    ):
        pd.testing.assert_frame_equal(found.triples, expected)


@pytest.mark.parametrize("column", ["grounding", "chain"])
def test_roles_and_groundings(column):
    text = (
        f"{column}\trole\trule\tinstance\thead\trelation\ttail\tlabel\n"
        "1\thead\tA\tx\te0\tr1\te2\tyes\n1\tbody\tA\tx\te0\tr0\te1\tyes\n"
        "2\t\tA\tx\te1\tr0\te1\tyes\n2\tHEAD\tA\tx\te0\tr1\te2\tyes\n"
    )
    instances = read(text)
    assert instances.table["groundings"].tolist() == [2]
    assert instances.triples["is_answer_triple"].tolist() == [True, False, False, True]


def test_instances_of_two_rules_may_have_the_same_name():
    text = HEADER + "A\t1\te0\tr0\te1\t1\nB\t1\te0\tr0\te1\t0\n"
    assert read(text).table["label"].tolist() == [True, False]


@pytest.mark.parametrize("label", ["true", "1", "yes", "Positive", "FALSE", "0", "no", "negative"])
def test_labels(label):
    truth = label.lower() in ("true", "1", "yes", "positive")
    assert read(HEADER + f"A\t1\te0\tr0\te1\t{label}\n").table["label"].tolist() == [truth]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "rules.tsv is empty; expected columns rule, instance"),
        (b" \n\n", "rules.tsv is empty"),
        (HEADER.encode(), "holds no instances: expected rows below"),
        (b"head\trelation\ttail\n", r"rule, instance, label missing \(rules.tsv, line 1\)"),
        (b"hello", r"found hello: rule, .* missing \(rules.tsv, line 1\)"),
        (GOOD.replace("instance", "rule").encode(), "instance missing"),
        ((HEADER[:-1] + "\tlabel\n").encode(), "label occurs twice"),
        (GOOD.replace("e0\tr1", "e0 r1").encode(), r"found 5 \(rules.tsv, line 3\)"),
        (GOOD.replace("no", "maybe").encode(), r"found 'maybe' \(rules.tsv, line 4\)"),
        (GOOD.replace("no", "").encode(), r"value in column label; found none \(rules.tsv, line 4"),
        (GOOD.replace("e0\tr1", "e00\tr1").encode(), r"unknown entity 'e00'.*'e0'.*line 3"),
        (GOOD.replace("r0", "q0").encode(), r"unknown relation 'q0'.*line 2"),
        (
            GOOD.replace("r1\te1\ttrue", "r1\te1\tfalse").encode(),
            r"found false for instance 'x' of rule 'A', true in line 2 \(rules.tsv, line 3\)",
        ),
        (GOOD.replace("A", "all").encode(), "not called 'all'"),
        (GOOD.encode()[:-4] + b"\xff\n", r"found byte 0xff \(rules.tsv, line 4\). Save"),
        (GOOD.encode("utf-16"), "expected UTF-8 text"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-9], "is not a whole gzip file"),
        (b"\x1f\x8bnonsense", "is not a whole gzip file"),
        (b'rule,instance,head,relation,tail,label\nA,"1,e0,r0,e1,yes\n', "not valid CSV.*line 2"),
        (b"\0\0\0\0", "expected columns"),
    ],
)
def test_defects_are_named_with_file_and_line(content, message):
    with pytest.raises(KgdashError, match=message):
        read_rule_table(content, GRAPH, "rules.tsv")


def test_wrong_roles():
    text = HEADER[:-1] + "\trole\nA\t1\te0\tr0\te1\t1\t"
    with pytest.raises(KgdashError, match=r"expected role head or body; found 'heda'.*'head'"):
        read(text + "heda\n")
    with pytest.raises(KgdashError, match=r"a triple with role head in instance '1'.*line 2"):
        read(text + "body\n")


@pytest.mark.parametrize("column", ["predicted_side", "asked"])
def test_which_side_is_predicted(column):
    text = GOOD.replace("label", f"label\t{column}", 1).replace("true", "true\tHEAD", 1)
    text = text.replace("true\n", "true\ttail\n").replace("no\n", "no\t\n")
    assert read(text).triples["predicted_side"].tolist() == ["head", "tail", "tail"]
    with pytest.raises(
        KgdashError, match=r"expected predicted_side head or tail; found 'heed'.*'head'"
    ):
        read(text.replace("HEAD", "heed"))


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(rule_table, "MAX_RULES", 1)
    assert read(GOOD)
    with pytest.raises(KgdashError, match="more than 1 rules; keep fewer"):
        read(GOOD + "B\tx\te0\tr0\te1\ttrue\n")
    monkeypatch.setattr(rule_table, "MAX_ROWS", 2)
    with pytest.raises(KgdashError, match="more than 2 rows"):
        read(GOOD)
    monkeypatch.setattr(rule_table, "MAX_BYTES", 2**20)
    for content in (b"a" * 2**21, gzip.compress(b"a" * 2**24)):
        with pytest.raises(KgdashError, match="more than 1 MiB; keep less"):
            read_rule_table(content, GRAPH, "rules.tsv")


def test_long_labels_of_many_rows_of_a_visitor_s(as_visitor, monkeypatch):
    monkeypatch.setattr(bounds, "_WRITTEN_OUT", 18)
    as_visitor(folder="ada")
    assert read(GOOD)
    monkeypatch.setattr(bounds, "_WRITTEN_OUT", 17)
    with pytest.raises(KgdashError, match=r"triples in rules\.tsv, written out, have 18 bytes"):
        read(GOOD)


def test_a_missing_file(tmp_path):
    with pytest.raises(KgdashError, match=r"can not read .*nowhere.tsv: No such file"):
        read_rule_table(tmp_path / "nowhere.tsv", GRAPH)


def test_written_and_read_again():
    graph = load_dataset("umls")
    rules = Rules(graph, mine_rules(graph, min_support=10, max_rules=30)).rules
    for instances in (
        rule_instances(graph, rules, PredictionSampling(5)),
        sample_queries(graph, QuerySampling(per_type=5)),
    ):
        again = read(write_rule_table(instances, graph), graph=graph)
        expected = instances.triples.astype({"group": object, "predicted_side": str})
        pd.testing.assert_frame_equal(again.triples, expected)
        of_csv = read(write_rule_table(instances, graph, ".csv"), graph=graph)
        pd.testing.assert_frame_equal(of_csv.triples, expected)
        if instances.table["group"].str.contains("=>").all():
            pd.testing.assert_frame_equal(again.table, instances.table)


def test_names_that_would_break_the_table_are_refused():
    instances = read(GOOD)
    for name in ("a\tb", "a\nb", " a", ""):
        broken = small_graph([(0, 0, 1), (1, 1, 2)])
        broken = type(broken)(
            "g", (name, "e1", "e2"), broken.relations, broken.splits, ("x",) * 3, ("y",) * 2
        )
        with pytest.raises(KgdashError, match="can not stand in a tab-separated table"):
            write_rule_table(instances, broken)


def test_a_table_that_is_too_long_is_refused_before_it_is_made():
    instances = read(GOOD)
    rows, graph = instances.triples, GRAPH
    names = [*rows["group"], *(graph.relations[r] for r in rows["relation"])]
    names += [graph.entities[e] for e in (*rows["head"], *rows["tail"])]
    letters = sum(map(len, names))
    assert write_rule_table(instances, graph, most=letters) == write_rule_table(instances, graph)
    with pytest.raises(KgdashError, match=r"more than .* bytes"):
        write_rule_table(instances, graph, most=letters - 1)


def test_the_example_in_the_documentation():
    graph = load_dataset("umls")
    instances = read_rule_table(EXAMPLE, graph)
    counts = instances.counts()
    assert 20 <= len(instances) <= 60
    assert (counts["n_true"] == counts["n_false"]).all()
    heads = instances.triples[instances.triples["is_answer_triple"]]
    split = graph.split_of(heads[["head", "relation", "tail"]].to_numpy())
    assert np.isin(split[heads["label"]], ["valid", "test"]).all()
    assert (split[~heads["label"]] == "none").all()
    body = instances.triples[~instances.triples["is_answer_triple"]]
    assert (graph.split_of(body[["head", "relation", "tail"]].to_numpy()) == "train").all()
