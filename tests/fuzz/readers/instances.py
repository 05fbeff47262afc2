"""Readers of queries with their answers, of rules, and of tables of labelled instances."""

import gzip
import pickle
from functools import cache
from pathlib import Path

import numpy as np

from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.queries.files import read_named_queries, read_queries, write_queries
from kgdash.studies.queries.files_text import QUERY2BOX_TYPES
from kgdash.studies.queries.query_types import QUERY_TYPES, AskedQueries
from kgdash.studies.rules.files import RuleFile, read_rules
from kgdash.studies.rules.parsing import parse_rule
from tests.fuzz.harness import scratch
from tests.fuzz.mutation.containers import pack
from tests.fuzz.reader import Reader
from tests.fuzz.readers.graphs import GRAPH

_LOG = (
    "Loading files...\nStarting the mining phase... Rule\tHead Coverage\tStd Confidence\t"
    "PCA Confidence\tPositive Examples\tBody size\tPCA Body size\tFunctional variable\n"
    "?a  r0  ?b   => ?a  r1  ?b\t0.5\t0.25\t1\t3\t12\t3\t?a\n"
    "?b  r0  ?h  ?a  r1  ?h   => ?a  r1  ?b\t0,125\t0.1\t0.2\t2\t20\t10\t?b\n"
    "Mining done in 5.09 s\n2 rules mined.\n"
)
_BURL = "39\t5\t0.128\tr0(X,Y) <= r1(X,A), r0(A,Y)\n12\t3\t0.25\tr0(X,e1) <= r1(e2,X)\n"
_TABLE = (
    'rule,support,pca_confidence,note\n"r0(X,Y) <= r1(X,Y)",7,0.5,x\n?a r1 ?b => ?b r0 ?a,,0.25,\n'
)
_INSTANCES = (
    "rule\tinstance\thead\trelation\ttail\tlabel\tgrounding\trole\tpredicted_side\n"
    "a\t1\te0\tr0\te1\ttrue\t\t\t\na\t2\te1\tr1\te2\tfalse\t\t\t\n"
    "b\t1\te2\tr2\te3\ttrue\tg1\tbody\ttail\nb\t1\te3\tr0\te4\ttrue\tg1\thead\thead\n"
)


def _asked() -> dict[str, AskedQueries]:
    """Ask one query of each type."""
    found = {}
    for name, kind in QUERY_TYPES.items():
        anchors = np.arange(len(kind.branches)).reshape(1, -1)
        relations = np.arange(kind.num_relations).reshape(1, -1) % 6
        hard = np.array([False, True])
        found[name] = AskedQueries(kind, anchors, relations, np.zeros(2, int), np.arange(2), hard)
    return found


@cache
def _written(extension: str) -> bytes:
    with scratch() as folder:
        path = folder / f"queries{extension}"
        write_queries(_asked(), GRAPH, path)
        return path.read_bytes()


def _texts() -> list[bytes]:
    listed = b"[" + _written(".jsonl").strip().replace(b"\n", b",\n") + b"]"
    return [_written(".jsonl"), listed, gzip.compress(_written(".jsonl"), mtime=0)]


def _tables() -> list[bytes]:
    return [_written(".tsv"), _written(".tsv").replace(b"\t", b",")]


def _branches(kind) -> tuple:
    steps = iter(range(kind.num_relations))
    parts = [(n, tuple(next(steps) for _ in range(k))) for n, k in enumerate(kind.branches)]
    return tuple(parts), tuple(steps)


def _query2box() -> bytes:
    files = {
        "ind2ent.pkl": dict(enumerate(GRAPH.entities)),
        "ind2rel.pkl": dict(enumerate([*GRAPH.relations, *(f"{r}_reverse" for r in "abc")])),
    }
    for short, name in QUERY2BOX_TYPES.items():
        branches, after = _branches(QUERY_TYPES[name])
        files[f"test_ans_{short}.pkl"] = {branches + after: {0, 1, 2}}
        files[f"test_ans_{short}_hard.pkl"] = {branches + after: {2}}
    return pack({name: pickle.dumps(value, 4) for name, value in files.items()})


def _betae() -> bytes:
    single, double = (0, (1,)), ((0, (1,)), (2, (3,)))
    union = (*double, (-1,))
    queries = {
        ("e", ("r",)): {single, (3, (2,))},
        (("e", ("r",)), ("e", ("r",))): {double},
        (("e", ("r",)), ("e", ("r",)), ("u",)): {union},
        ((("e", ("r",)), ("e", ("r",))), ("r",)): [(double, (4,))],
        ("e", ("r", "n")): {(0, (1, -2))},
    }
    answers = {query: {1, 2} for found in queries.values() for query in found}
    relations = [sign + name for name in GRAPH.relations for sign in "+-"]
    files = {
        "id2ent.pkl": dict(enumerate(GRAPH.entities)),
        "id2rel.pkl": dict(enumerate(relations)),
        "test-queries.pkl": queries,
        "test-easy-answers.pkl": answers,
        "test-hard-answers.pkl": {query: {3} for query in answers},
    }
    return pack({name: pickle.dumps(value, 4) for name, value in files.items()})


def _read_table(path: Path) -> None:
    read_rule_table(path.read_bytes(), GRAPH, "uploaded")


def _rule_texts(path: Path) -> None:
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        parse_rule(line, GRAPH)


READERS = (
    Reader("queries-json", _texts, lambda p: read_queries(p, GRAPH), "case.jsonl"),
    Reader("queries-table", _tables, lambda p: read_queries(p, GRAPH), "case.tsv"),
    Reader(
        "queries-parquet",
        lambda: [_written(".parquet")],
        lambda p: read_queries(p.read_bytes(), GRAPH, "uploaded"),
        "case.parquet",
    ),
    Reader(
        "queries-pickled",
        lambda: [_query2box(), _betae()],
        lambda p: (read_named_queries(p, str(p)), read_queries(p, GRAPH)),
        "case.folder",
    ),
    Reader(
        "rules",
        lambda: [text.encode() for text in (_LOG, _BURL, _TABLE)],
        lambda p: read_rules(RuleFile(p), GRAPH),
        "case.tsv",
    ),
    Reader(
        "rule-texts", lambda: [b"?a r0 ?b => ?a r1 ?b\nr0(X,e1) <= r1(e2,X)"], _rule_texts, "a.txt"
    ),
    Reader("instances", lambda: [_INSTANCES.encode()], _read_table, "case.tsv"),
)
