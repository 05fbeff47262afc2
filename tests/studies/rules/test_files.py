import gzip
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.rules import files as rule_files
from kgdash.studies.rules.confidence import METRICS, count_rules
from kgdash.studies.rules.files import RuleFile, read_rules
from kgdash.studies.rules.parsing import parse_rule
from tests.support.instance_fakes import AMIE, ANYBURL, CODEX, needs_codex, small_graph

GRAPH = small_graph([(0, 0, 1), (0, 1, 1)], entities=4)
LOG = (
    "Loading files...\nStarting the mining phase... Rule\tHead Coverage\tStd Confidence\t"
    "PCA Confidence\tPositive Examples\tBody size\tPCA Body size\tFunctional variable\n"
    "Using 2 threads\n"
    "?a  r0  ?b   => ?a  r1  ?b\t0.5\t0.25\t1\t3\t12\t3\t?a\n"
    "[still mining: 40 %]\n"
    "?b  r0  ?h  ?a  r1  ?h   => ?a  r1  ?b\t0,125\t0.1\t0.2\t2\t20\t10\t?b\n"
    "Mining done in 5.09 s\n2 rules mined.\n"
)
BURL = "39\t5\t0.128\tr0(X,Y) <= r1(X,A), r0(A,Y)\n12\t3\t0.25\tr0(X,e1) <= r1(e2,X)\n"
TABLE = (
    'rule,support,pca_confidence,note\n"r0(X,Y) <= r1(X,Y)",7,0.5,x\n?a r1 ?b => ?b r0 ?a,,0.25,\n'
)


def read(text, graph=GRAPH):
    return read_rules(RuleFile(text.encode(), "rules.txt"), graph)


def test_amie_s_log():
    found = read(LOG)
    assert found.table.to_dict("records")[0] == {
        "rule": "?a  r0  ?b   => ?a  r1  ?b",
        "reading": "r0(a, b) ⇒ r1(a, b)",
        "source": "AMIE",
        "support": 3,
        "body_size": 12,
        "pca_body_size": 3,
        "head_coverage": 0.5,
        "standard_confidence": 0.25,
        "pca_confidence": 1,
    }
    assert found.table["head_coverage"].tolist() == [0.5, 0.125]
    assert found.notes == ()
    # A rule about an entity of that name is no header: all numbers after it were dropped.
    golden = replace(GRAPH, entities=(*GRAPH.entities[:3], "Golden Rule"))
    row = "?a  r0  ?b   => ?a  r1  Golden Rule\t0.5\t0.25\t1\t3\t12\t3\t?a\n"
    assert read(LOG.replace("[still", f"{row}[still"), golden).table["support"].tolist()[-1] == 2
    headless = LOG[LOG.index("Rule\t") :]
    pd.testing.assert_frame_equal(read(headless).table, found.table)


@pytest.mark.parametrize("place", ["rule,{}\n", "rule,note\nr0(X Y),{}\n"])
def test_a_field_that_csv_refuses(place):
    with pytest.raises(KgdashError, match=r"not valid CSV: field larger .*\(rules.txt, line \d\)"):
        read(place.format("x" * 131_073))


def test_anyburl_s_rows():
    table = read(BURL).table
    assert table["source"].tolist() == ["AnyBURL"] * 2
    assert table["rule"].tolist() == [
        "?a  r1  ?h  ?h  r0  ?b   => ?a  r0  ?b",
        "e2  r1  ?a   => ?a  r0  e1",
    ]
    assert table[["body_size", "support", "standard_confidence"]].to_numpy().tolist() == [
        [39, 5, 0.128],
        [12, 3, 0.25],
    ]
    assert table[["pca_confidence", "pca_body_size", "head_coverage"]].isna().all(axis=None)


def test_a_table_of_rules():
    found = read(TABLE)
    table = found.table
    assert found.rules == tuple(parse_rule(text, GRAPH) for text in table["rule"])
    assert table["source"].tolist() == ["table"] * 2
    assert table["pca_confidence"].tolist() == [0.5, 0.25]
    assert table["support"].fillna(-1).tolist() == [7, -1]
    saved = count_rules(GRAPH, found.rules)
    again = read(saved.to_csv(index=False, sep="\t")).table
    assert again["rule"].tolist() == table["rule"].tolist()
    np.testing.assert_array_equal(again[[*METRICS]], saved[[*METRICS]].astype(float))


def test_other_names_of_columns():
    amie = read(LOG).table
    lines = LOG[LOG.index("Rule\t") :].splitlines()
    rows = [line.replace("0,125", "0.125").split("\t") for line in (lines[0], lines[2], lines[4])]
    comma = "\n".join(",".join(row) for row in rows)
    lower = "\n".join("\t".join(row) for row in [[c.lower() for c in rows[0]], *rows[1:]])
    burl = "predicted\tcorrect\tconfidence\trule\n" + BURL
    for text, expected in ((comma, amie), (lower, amie), (burl, read(BURL).table)):
        found = read(text).table
        pd.testing.assert_frame_equal(found.drop(columns="source"), expected.drop(columns="source"))


def test_other_forms_of_the_same(tmp_path):
    expected = read(LOG).table
    path = tmp_path / "rules.tsv.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    bare = "".join(line.split("\t")[0] + "\n" for line in LOG.splitlines())
    for found in (
        read_rules(RuleFile(path), GRAPH).table,
        read("\ufeff" + LOG.replace("\n", "\r\n")).table,
        read(
            LOG.replace("?a  r0  ?b   =>", "?x  <r0>  ?b   =>").replace("=> ?a", "=> ?x", 1)
        ).table,
        read(LOG.replace("Starting the mining phase... ", "")).table,
        read("\n".join(line for line in LOG.split("\n") if "Rule\t" not in line)).table,
    ):
        pd.testing.assert_frame_equal(found, expected)
    assert read(bare).table["rule"].tolist() == expected["rule"].tolist()
    assert read(bare).table[[*METRICS]].isna().all(axis=None)


def test_columns_of_other_names_are_told_and_of_one_meaning_refused():
    """`pca_conf` was dropped without a word, and of two columns the last counted."""
    rule = "?a  r0  ?b   => ?a  r1  ?b"
    found = read(f"rule,pca_conf,supp,reading\n{rule},0.5,7,x")
    assert found.notes == ("columns that are not read: pca_conf, supp",)
    assert found.table[[*METRICS]].isna().all(axis=None)
    assert read(f"rule\tsupport\n{rule}\t7").notes == ()
    with pytest.raises(KgdashError, match=r"expected one column of support; found several in the"):
        read(f"rule,correct,Support\n{rule},7,9")


def test_what_does_not_fit_is_left_out_and_counted():
    more = (
        "5\t5\t1.0\tr0(X,Y) <= r1(X,B), r0(B,Y)\n"
        "5\t5\t1.0\tr7(X,Y) <= r1(X,Y)\n"
        "5\t5\t1.0\tr0(X,e1) <= r1(X,e99)\n"
        "5\t5\t1.0\tr0(X,e1) <= \n"
        "5\t5\t1.0\tr0(X,Y) <= r1(X,e1)\n"
    )
    found = read(BURL + more)
    pd.testing.assert_frame_equal(found.table, read(BURL).table)
    assert found.notes == (
        "1 of 7 rules left out, that came before (first: line 3)",
        "2 of 7 rules left out, over names that the graph does not have (first: 'r7', line 4)",
        "1 of 7 rules left out, not of one to three atoms (first: 'r0(X,e1) <=', line 6)",
        "1 of 7 rules left out, that can not be used (first: variable ?Y of the head is not in the "
        "body, line 7)",
    )


def test_a_label_of_two_entities_is_not_guessed():
    graph = replace(GRAPH, entity_labels=("e0", "twin", "twin", "e3"))
    found = read(BURL.replace("e2", "twin"), graph)
    assert len(found.table) == 1
    assert "2 entries of graph tiny are labelled 'twin'" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"rules.txt gives no rule for graph tiny: no line is a rule. Expected"),
        ("hello\nworld\n", "no line is a rule"),
        ("5\t5\t1.0\tr7(X,Y) <= r1(X,Y)\n", "1 of 1 rules left out, over names .* 'r7', line 1"),
        (LOG.replace("0.25", "often"), r"0 to 1 for the standard confidence; found 'often' .*4"),
        (LOG.replace("0.25", "25"), "from 0 to 1 for the standard confidence; found '25'"),
        (LOG.replace("0.25", "-1"), "from 0 to 1 for the standard confidence; found '-1'"),
        (BURL.replace("39", "3,900"), r"a whole number for the body size; found '3,900'.*line 1"),
        (BURL.replace("39", "3,000"), r"a whole number for the body size; found '3,000'.*line 1"),
        ("rule,confidence\n?a  r0  ?b   => ?a  r1  ?b,0,9\n", "expected 2 col.* found 3 .*line 2"),
        ("rule,support\n?a  r0  ?b   => ?a  r1  ?b\n", "expected 2 columns.* found 1 .*line 2"),
        (BURL.replace("39", "3_9"), r"a whole number for the body size; found '3_9'"),
        (LOG.replace("\t0.5\t", "\t"), "expected 8 columns, a rule and Head .*found 7.*4"),
        (BURL.replace("\t5\t", "\t"), r"expected AnyBURL's columns.* \(rules.txt, line 1\)"),
        (BURL + "the end\n", r"found 'the end' \(rules.txt, line 3\)"),
        (BURL.replace("39", "many"), r"whole number for the body size; found 'many'.*line 1"),
        ("rule,support\n,3\n", "no rule"),
    ],
)  # fmt: skip
def test_defects_are_named_with_file_and_line(text, message):
    with pytest.raises(KgdashError, match=message):
        read(text)


def test_too_many_rules_and_a_missing_file(monkeypatch, tmp_path):
    monkeypatch.setattr(rule_files, "MAX_RULES", 1)
    with pytest.raises(KgdashError, match="more than 1 rules; keep those of highest confidence"):
        read(BURL)
    with pytest.raises(KgdashError, match=r"can not read .*nowhere"):
        read_rules(RuleFile(tmp_path / "nowhere"), GRAPH)


@needs_codex
def test_all_rows_of_amie_and_anyburl_are_read():
    graph = load_dataset(CODEX)
    amie = read_rules(RuleFile(AMIE), graph)
    assert (len(amie.table), amie.notes) == (214, ())
    assert amie.table[[*METRICS]].notna().all(axis=None)
    anyburl = read_rules(RuleFile(ANYBURL), graph)
    assert (len(anyburl.table), anyburl.notes) == (1838, ())


@needs_codex
def test_anyburl_counts_as_we_do_but_for_the_head_s_own_constant():
    """A variable does not take the value of a constant in AnyBURL's own counts."""
    graph = load_dataset(CODEX)
    read = read_rules(RuleFile(ANYBURL), graph)
    # One atom, a constant in head and body, few predictions: nothing to sample.
    fixed = np.array(
        [
            len(r.body) == 1 and all(len({*map(type, a[1:])}) == 2 for a in r.atoms)
            for r in read.rules
        ]
    )
    some = read.take(np.flatnonzero(fixed & (read.table["body_size"] < 100))[::8])
    table, counted = some.table, count_rules(graph, some.rules)
    own = np.array([_covers_itself(rule, graph) for rule in some.rules])
    assert len(table) > 100
    assert own.any()
    assert (counted["support"].to_numpy() == table["support"]).mean() > 0.99
    assert (counted["body_size"].to_numpy() - own == table["body_size"]).mean() > 0.99


def _covers_itself(rule, graph):
    """Tell whether the constant of the head satisfies the body."""
    constant = next(term for term in rule.head[1:] if isinstance(term, int))
    relation, *ends = rule.body[0]
    head, tail = (constant if isinstance(term, str) else term for term in ends)
    return bool(graph.known(("train",)).contains(np.array([(head, relation, tail)]))[0])


@pytest.mark.parametrize(
    "text", ["rule," + "ab," * 2**19, "a\tb\tc\n" + "ab\t" * 2**19, "ab " * 2**19]
)
def test_a_line_is_refused_before_it_fills_the_memory(text):
    with pytest.raises(
        KgdashError, match=r"rows of less than 1,048,576 characters \(rules.txt, li"
    ):
        read(text)


def test_columns_that_are_not_read_take_no_time():
    header = "rule\t" + "\t".join(f"{number:x}" for number in range(2_000))
    row = "?a  r0  ?b   => ?a  r1  ?b" + "\t" * 2_000
    start = time.process_time()
    assert len(read(header + f"\n{row}" * 3_000).rules) == 1
    assert time.process_time() - start < 5
