"""Instances of queries, sampled or of a file, in one."""

from dataclasses import replace

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.queries.files import write_queries
from kgdash.studies.queries.query_instances import AnswerSampling, query_instances
from kgdash.studies.queries.query_types import PAPER_TYPES, QUERY_TYPES
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from kgdash.studies.queries.sources import queries_of_file, sample_queries
from tests.support.instance_fakes import small_graph

ALL = tuple(QUERY_TYPES)

#: 0 –r0→ 1, 2 –r1→ 3, and the held-out 1 –r1→ 3; 4 and 5 are other ends of r1
CHAIN = small_graph(
    [(0, 0, 1), (0, 0, 2), (6, 0, 6), (7, 1, 4), (2, 1, 5)], test=[(1, 1, 3), (2, 1, 3)]
)


def test_a_path_query_by_hand():
    sampled = sample_queries(CHAIN, QuerySampling(("2p",), per_type=10))
    assert sampled.table["question"].unique().tolist() == ["r0(e0, x) ∧ r1(x, ?)"]
    true = sampled.triples[sampled.triples["label"]]
    found = {
        tuple(map(tuple, c[["head", "relation", "tail"]].to_numpy().tolist()))
        for _, c in true.groupby("grounding")
    }
    assert found == {((0, 0, 1), (1, 1, 3)), ((0, 0, 2), (2, 1, 3))}
    # 5 is an answer too, so that the range of r1 leaves only 4 as a false one.
    assert sampled.table["answer"].tolist() == ["e3", "e4"]
    false = sampled.triples[~sampled.triples["label"]]
    assert false["tail"].tolist() == [1, 4, 2, 4]
    assert sampled.notes == (
        "true answers need at least one triple outside train",
        "2p: 1 of 10 queries found; the graph has few with an answer outside train",
    )


def test_paths_are_capped():
    sampled = sample_queries(CHAIN, QuerySampling(("2p",), per_type=1), max_paths=1)
    assert sampled.table["groundings"].tolist() == [1, 1]


def test_no_query_found_is_said():
    graph = small_graph([(0, 0, 0)], test=[(0, 0, 1)])
    sampled = sample_queries(graph, QuerySampling(("1p",)))
    assert len(sampled) == 0
    assert sampled.notes[1].startswith("1p: 0 of 50 queries found")


def test_the_paper_s_types_unless_others_are_asked_for():
    graph, calls = load_dataset("umls"), []
    sampled = sample_queries(
        graph,
        QuerySampling(per_type=5, seed=3),
        progress=lambda done, total: calls.append(done / total),
    )
    assert sampled.counts()["group"].tolist() == list(PAPER_TYPES)
    asked = draw_queries(graph, QuerySampling(PAPER_TYPES, 5, seed=3))
    apart = query_instances(graph, asked, AnswerSampling(seed=3))
    pd.testing.assert_frame_equal(sampled.triples, apart.triples)
    assert calls == sorted(calls)
    assert calls[-1] == 1


@pytest.fixture(scope="module")
def file_of_queries(tmp_path_factory):
    graph = load_dataset("umls")
    path = tmp_path_factory.mktemp("queries") / "some.jsonl"
    asked = draw_queries(graph, QuerySampling(("2p", "up"), 12, follow_backwards=True))
    write_queries(asked, graph, path)
    return graph, asked, path


def test_queries_of_a_file_are_those_that_were_written(file_of_queries):
    graph, asked, path = file_of_queries
    made = queries_of_file(graph, path, None, AnswerSampling(50, 4))
    pd.testing.assert_frame_equal(
        made.triples, query_instances(graph, asked, AnswerSampling(50, 4)).triples
    )
    assert made.notes == (
        "the answers of all 24 queries are those of graph umls",
        "hard answers are those outside train",
    )
    some = queries_of_file(graph, path.read_bytes(), ("1p", "up"), AnswerSampling(5), "mine")
    assert some.counts()[["group", "n_true"]].to_numpy().tolist() == [["up", 5]]


def test_a_file_without_the_types_asked_for(file_of_queries):
    graph, _, path = file_of_queries
    with pytest.raises(KgdashError, match="mine has queries of type 2p, up; none of the chosen 3i"):
        queries_of_file(graph, path, ("3i",), name="mine")


def test_a_file_of_another_graph_s_answers_is_told(file_of_queries):
    graph, asked, _ = file_of_queries
    fewer = replace(graph, splits=graph.splits | {"test": graph.splits["test"][:0]})
    made = query_instances(fewer, asked)
    assert "2p: left out hard answers that do not hold in graph umls" in " ".join(made.notes)
    known = fewer.known()
    endings = made.triples[made.triples["is_answer_triple"] & made.triples["label"]]
    assert known.contains(endings[["head", "relation", "tail"]].to_numpy()).all()
