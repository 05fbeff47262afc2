"""Queries in files: what is written is read back, and what is wrong is named with its line."""

import gzip
import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files.visitor import Visitor, working_for
from kgdash.studies.queries import files_text
from kgdash.studies.queries.files import read_queries, write_queries
from kgdash.studies.queries.query_types import QUERY_TYPES, AskedQueries
from tests.support.instance_fakes import small_graph
from tests.support.turns import longest_hold

GRAPH = small_graph([(0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 0, 4)], entities=5, relations=3)
NAMED = small_graph([(0, 0, 1)], entities=3, relations=2)


def asked_queries(graph, kind: str):
    """Draw queries of a type, each once, with at least one answer."""
    shape = QUERY_TYPES[kind]
    entity = st.integers(0, graph.num_entities - 1)
    relation = st.integers(0, 2 * graph.num_relations - 1)
    query = st.tuples(*[entity] * len(shape.branches), *[relation] * shape.num_relations)
    if len(shape.branches) > 1 and max(shape.branches) == 1:
        ways, cut = len(shape.branches), len(shape.branches)
        query = query.filter(lambda q: len(set(zip(q[:cut], q[cut:], strict=False))) == ways)
    answers = st.dictionaries(entity, st.booleans(), min_size=1)

    def made(found):
        table = np.array([list(q) for q in found]).reshape(len(found), -1)
        cut = len(shape.branches)
        pairs = [(i, a, found[q][a]) for i, q in enumerate(found) for a in sorted(found[q])]
        owner, answer, hard = np.array(pairs).T
        return AskedQueries(shape, table[:, :cut], table[:, cut:], owner, answer, hard.astype(bool))

    def asks(pair):
        q, cut = pair[0], len(shape.branches)
        if max(shape.branches) > 1:
            return q
        return sorted(zip(q[:cut], q[cut : 2 * cut], strict=True)).__repr__(), q[2 * cut :]

    pairs = st.lists(st.tuples(query, answers), min_size=1, max_size=4, unique_by=asks)
    return pairs.map(dict).map(made)


def several(graph):
    kinds = st.lists(st.sampled_from(list(QUERY_TYPES)), min_size=1, max_size=3, unique=True)
    return kinds.flatmap(
        lambda chosen: st.fixed_dictionaries(
            {kind: asked_queries(graph, kind) for kind in QUERY_TYPES if kind in chosen}
        )
    )


def assert_same(found, expected) -> None:
    assert list(found) == [kind for kind in QUERY_TYPES if kind in expected]
    for kind, queries in expected.items():
        assert found[kind].kind == queries.kind
        for field in ("anchors", "relations", "owner", "answers", "hard"):
            np.testing.assert_array_equal(getattr(found[kind], field), getattr(queries, field))
            assert getattr(found[kind], field).dtype == getattr(queries, field).dtype


@settings(max_examples=40)
@given(several(GRAPH), st.sampled_from([".jsonl", ".json", ".tsv", ".parquet"]))
def test_round_trip(tmp_path_factory, asked, extension):
    path = tmp_path_factory.mktemp("q") / f"queries{extension}"
    write_queries(asked, GRAPH, path)
    for source in (path, path.read_bytes()):
        found, notes = read_queries(source, GRAPH)
        assert_same(found, asked)
        assert notes == []


@settings(max_examples=15)
@given(several(GRAPH))
def test_one_list_and_commas_and_gzip_hold_the_same(tmp_path_factory, asked):
    folder = tmp_path_factory.mktemp("q")
    write_queries(asked, GRAPH, folder / "q.jsonl")
    write_queries(asked, GRAPH, folder / "q.tsv")
    lines = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    for content in (
        json.dumps(lines, indent=2).encode(),
        "\n\n".join(json.dumps(line, indent=1) for line in lines).encode(),
        (folder / "q.tsv").read_text().replace("\t", ",").encode(),
        b"\xef\xbb\xbf" + (folder / "q.tsv").read_bytes().replace(b"\n", b"\r\n"),
        gzip.compress((folder / "q.jsonl").read_bytes()),
    ):
        assert_same(read_queries(content, GRAPH)[0], asked)


def one(anchors, relations, easy=(), hard=(), kind="1p") -> str:
    return json.dumps(
        {"type": kind, "anchors": anchors, "relations": relations, "easy": easy, "hard": hard}
    )


def read(*lines: str):
    return read_queries("\n".join(lines).encode(), NAMED, "mine.jsonl")


def refusal(text: str) -> str:
    with pytest.raises(KgdashError) as refused:
        read(text)
    return str(refused.value)


def test_names_labels_and_backwards():
    found, notes = read(
        one(["e0"], ["r1"], ["e2"]), one(["E1"], ["^R0"], [], ["e0"]), one(["e0"], ["r1"], ["e1"])
    )
    assert notes == []
    queries = found["1p"]
    assert queries.anchors.tolist() == [[0], [1]]
    assert queries.relations.tolist() == [[1], [0 + 2]]
    assert (queries.owner.tolist(), queries.answers.tolist()) == ([0, 0, 1], [1, 2, 0])
    assert queries.hard.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "graph",
    [
        replace(GRAPH, relations=("likes", "^LIKES", "r3")),
        replace(GRAPH, relations=("likes", "r2", "r3"), relation_labels=("", "^likes", "")),
    ],
)
def test_what_is_written_backwards_is_read_so_whatever_a_label_is(graph, tmp_path):
    """It was read as the other relation, or refused."""
    shape, zero = QUERY_TYPES["1p"], np.zeros((1, 1), dtype=np.int64)
    asked = {"1p": AskedQueries(shape, zero + 1, zero + 3, zero[0], zero[0], zero[0] > 0)}
    write_queries(asked, graph, tmp_path / "q.jsonl")
    found, notes = read_queries(tmp_path / "q.jsonl", graph)
    assert (found["1p"].relations.tolist(), notes) == ([[3]], [])


@pytest.mark.parametrize(
    ("kind", "anchors", "relations", "same"),
    [
        ("2i", ["e1", "e0"], ["r1", "r0"], True),
        ("2i", ["e1", "e0"], ["r0", "r1"], False),
        ("3i", ["e1", "e0", "e0"], ["r1", "r1", "r0"], True),
        ("2u", ["e1", "e0"], ["r1", "r0"], True),
        ("ip", ["e1", "e0"], ["r1", "r0", "r1"], True),
        ("ip", ["e1", "e0"], ["r1", "r0", "r0"], False),
        ("up", ["e1", "e0"], ["r1", "r0", "r1"], True),
        ("pi", ["e1", "e0"], ["r1", "r0", "r1"], False),
    ],
)
def test_branches_in_another_order_ask_the_same(kind, anchors, relations, same):
    """They counted as many questions, by which more was claimed."""
    first = {"2": (["e0", "e1"], ["r0", "r1"]), "3": (["e0", "e0", "e1"], ["r0", "r1", "r1"])}
    entities, hops = first["3" if kind == "3i" else "2"]
    hops = [*hops, "r1"][: len(relations)]
    found, notes = read(
        one(entities, hops, ["e2"], kind=kind), one(anchors, relations, ["e1"], kind=kind)
    )
    assert len(found[kind]) == 2 - same
    assert found[kind].answers.tolist() == ([1, 2] if same else [2, 1])
    assert [note[-20:] for note in notes] == ["count once with it: 1"[-20:]] * same


@pytest.mark.parametrize("kind", ["2i", "3i", "2u", "ip", "up"])
def test_a_branch_that_stands_twice_is_left_out(kind):
    """With those of one branch less twelve questions counted as 36."""
    entities, hops = ["e0", "e1", "e0"], ["r0", "r1", "r0"]
    if kind != "3i":
        entities, hops = ["e0", "e0"], ["r0", "r0", *["r1"] * (kind in ("ip", "up"))]
    path = one(["e0", "e0"], ["r0", "r1", "r0"], ["e1"], kind="pi")
    found, notes = read(one(entities, hops, ["e2"], kind=kind), path)
    assert list(found) == ["pi"]
    assert [note.endswith("another type asks: 1") for note in notes] == [True]


def test_types_of_query2box_are_known_by_their_names():
    found, _ = read(one(["e0", "e1"], ["r0", "r1", "r1"], ["e2"], kind="ci"))
    assert list(found) == ["pi"]


def test_unknown_names_are_left_out_counted_and_named():
    found, notes = read(
        one(["e0"], ["r1"], ["e2", "e22"]),
        one(["e9"], ["r1"], ["e2"]),
        one(["e0"], ["^r7"], ["e2"]),
        one(["e0"], ["^r0"], ["/m/x"]),
    )
    assert len(found["1p"]) == 1
    assert found["1p"].answers.tolist() == [2]
    assert "2 of 4 queries left out" in notes[0]
    assert "'e9'" in notes[0]
    assert "did you mean" in notes[0]
    assert "mine.jsonl, line 2" in notes[0]
    assert "2 of 5 answers left out" in notes[1]
    assert "'e22'" in notes[1]
    assert "mine.jsonl, line 1" in notes[1]
    assert notes[2] == "1 of 4 queries left out: no answer that is in the graph"


def test_backwards_is_said_once():
    """Of 3,000 signs there was no end, and two gave ids that no message could name."""
    found, notes = read(
        *(one(["e0"], [f"{signs}r1"], ["e2"]) for signs in ("", "^" * 2, "^" * 3_000))
    )
    assert len(found["1p"]) == 1
    assert "2 of 3 queries left out" in notes[0]


def test_no_query_left_is_refused_with_the_reason():
    with pytest.raises(KgdashError, match=r"no query of graph .*unknown relation 'r5'.*line 1"):
        read(one(["e0"], ["r5"], ["e2"]))


MALFORMED = [
    (['{"type": "1p"'], "line 1"),
    ([one(["e0"], ["r1"], ["e2"]), "", "{"], "line 3"),
    (["[" + one(["e0"], ["r1"], ["e2"])], "ends within a list"),
    (["[", one(["e0"], ["r1"], ["e2"]), ",3]"], "line 3"),
    (['{"type": "1p", "anchors": ["e0"]}'], "expected an object"),
    ([one(["e0"], ["r1"])], "expected easy or hard answers"),
    ([one(["e0"], ["r1"], ["e2"], kind="4p")], "unknown query type '4p'"),
    ([one(["e0", "e1"], ["r1"], ["e2"])], "has 1 anchors and 1 relations; found 2 and 1"),
    ([one(["e0"], ["r1"], [3])], "list of names under 'easy'"),
    ([one(["e0"], [""], ["e1"])], "list of names under 'relations'"),
    ([one(["e0"], ["r1"], "e1")], "list of names under 'easy'"),
    (['{"type": "1p", "anchors": [], "relations": [], "answers": []}'], "unknown key 'answers'"),
    (["[" * 100_000 + "]" * 100_000], "line 1"),
    ([one(["e0"], ["r1"], ["e2"], ["e2"])], "easy and as a hard answer"),
    ([""], "is empty"),
    (["type\tanchor_1\trelation_1\tanswer"], "hard missing"),
    (["type\tanchor_1\trelation_1\tanswer\thard\thard"], "hard occurs twice"),
    (["type\tanchor_1\trelation_1\tanswer\thard", "1p\te0\tr0\te1"], "line 2"),
    (["type\tanchor_1\trelation_1\tanswer\thard", "1p\te0\tr0\te1\ttru"], "did you mean 'true'"),
    (["type\tanchor_1\trelation_1\tanswer\thard", "1p\te0\tr0\t\ttrue"], "expected an answer"),
    (["type\tanchor_1\trelation_1\tanswer\thard", "", "2p\te0\tr0\te1\ttrue"], "line 3"),
    (["type\tanchor_1\trelation_1\tanswer\thard"], "no query of graph"),
    (["type,anchor_1,relation_1,answer,hard", '1p,"e0,r0,e1,true'], "quote"),
]


@pytest.mark.parametrize(("lines", "said"), MALFORMED)
def test_malformed_files_are_refused(lines, said):
    with pytest.raises(KgdashError) as caught:
        read(*lines)
    assert said in str(caught.value)
    assert "mine.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (',"hard":[' + "[]," * 500_000 + "[]]}", "not valid JSON"),
        ("".join(f',"{number}":""' for number in range(300_000)) + "}", "not valid JSON"),
    ],
)
def test_what_is_no_query_is_not_built(more, said):
    """Python would parse it at one go, and nobody else comes to a turn meanwhile."""
    text = one(["e0"], ["r1"], ["e2"])[:-1] + more
    read(one(["e0"], ["r1"], ["e2"]))  # what it loads is not measured
    tracemalloc.start()
    try:
        with pytest.raises(KgdashError, match=said):
            read(text)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


def test_others_come_to_a_turn_while_a_long_query_is_read():
    text = one(["e0"], ["r1"], ["e2"], "\n" * 15_000_000)
    refused: list[str] = []
    longest, _ = longest_hold(lambda: refused.append(refusal(text)))
    assert "not valid JSON" in refused[0]
    assert longest < 0.3  # 0.5 s at one go


def test_more_names_than_one_may_hand_in_are_not_built():
    text = one(["e0"], ["r1"], ["e2"], [""] * 200_000)
    with working_for(Visitor(most_rows=100_000)):
        assert "more than 100,000 names" in refusal(text)


def test_a_query_may_be_long():
    names = [f'"x" {{[:{number}' for number in range(20_000)]
    found, notes = read(*[one(["e0"], ["r1"], ["e2"])] * 3, one(["e0"], ["r0"], [*names, "e1"]))
    assert found["1p"].answers.tolist() == [2, 1]
    assert "mine.jsonl, line 4" in notes[0]


def test_other_encodings_pickles_and_sizes_are_refused(monkeypatch, tmp_path):
    with pytest.raises(KgdashError, match=r"line 2\)\. Save the file as UTF-8"):
        read_queries(b"{}\n\xff", NAMED)
    with pytest.raises(KgdashError, match="import-queries"):
        read_queries(b"\x80\x04}.", NAMED)
    with pytest.raises(KgdashError, match="can not read"):
        read_queries(tmp_path / "absent.jsonl", NAMED)
    with pytest.raises(KgdashError, match="gzip"):
        read_queries(gzip.compress(b"{}")[:-3], NAMED)
    monkeypatch.setattr("kgdash.studies.queries.files.MAX_BYTES", 100)
    with pytest.raises(KgdashError, match="holds more than"):
        read_queries(gzip.compress(b" " * 1000), NAMED)


def test_a_visitors_queries_are_bounded_before_any_is_built(as_visitor, monkeypatch):
    as_visitor(most_rows=2)
    query = '{"type": "1p", "anchors": ["e0"], "relations": ["r0"], "hard": [%s]}'
    assert read_queries((query % '"e1", "e2"').encode(), GRAPH)
    with pytest.raises(KgdashError, match="the uploaded file holds more than 2 answers"):
        read_queries((query % '"e1", "e2", "e3"').encode(), GRAPH)
    monkeypatch.setattr(files_text.json, "JSONDecoder", None)
    with pytest.raises(KgdashError, match="the uploaded file holds more than 2 names"):
        read_queries((query % ('"e1", ' * 24 + '"e2"')).encode(), GRAPH)


def test_an_ambiguous_label_is_named_with_its_line():
    graph = replace(NAMED, entity_labels=("e0", "same", "same"))
    with pytest.raises(KgdashError, match=r"labelled 'same'.*mine\.jsonl, line 2\)"):
        read_queries(
            "\n".join([one(["e0"], ["r1"], ["e2"]), one(["e0"], ["r0"], ["same"])]).encode(),
            graph,
            "mine.jsonl",
        )


def parquet(tmp_path, **columns) -> bytes:
    whole = {"type": ["1p"], "anchors": [["e0"]], "relations": [["r0"]], "easy": [["e1"]]}
    whole |= {"hard": [["e2"]]} | columns
    pd.DataFrame({k: v for k, v in whole.items() if v is not None}).to_parquet(tmp_path / "q")
    return (tmp_path / "q").read_bytes()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"hard": None}, "expected columns"),
        ({"type": ["9p"]}, "unknown query type '9p'"),
        ({"type": [None]}, "expected names under 'type'"),
        ({"type": ["2i"]}, "has 2 anchors; found 1 (q, row 1)"),
        ({"anchors": [["e0", None]]}, "expected names under 'anchors'"),
        ({"easy": [None]}, "expected names under 'easy'"),
        ({"easy": [1.5]}, "expected names under 'easy'; found double"),
        ({"easy": [[1.5]]}, "expected names under 'easy'; found double"),
        ({"anchors": ["e0"]}, "expected names under 'anchors'"),
    ],
)
def test_other_parquet_files_are_refused(tmp_path, columns, said):
    content = parquet(tmp_path, **columns)
    with pytest.raises(KgdashError) as caught:
        read_queries(content, NAMED, "q")
    assert said in str(caught.value)
    with pytest.raises(KgdashError, match="no Parquet file of queries"):
        read_queries(content[:200], NAMED, "q")


def test_parquet_is_read_and_a_large_one_refused(tmp_path, monkeypatch):
    found, _ = read_queries(parquet(tmp_path), NAMED)
    assert found["1p"].answers.tolist() == [1, 2]
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    monkeypatch.setattr("kgdash.studies.queries.files_parquet._NAME_BYTES", 2**24)
    with pytest.raises(KgdashError, match="holds more than 4 names; keep fewer"):
        read_queries(parquet(tmp_path), NAMED)


def test_a_visitor_may_hand_in_parquet_of_as_many_names_as_text(tmp_path):
    lists = pa.ListArray.from_arrays(pa.array([0, 8_000], pa.int32()), [*map(str, range(8_000))])
    names = {"anchors": [["e0"]], "relations": [["r0"]], "easy": [["e1"]]}
    pq.write_table(pa.table({"type": ["1p"], **names, "hard": lists}), tmp_path / "q.parquet")
    with working_for(Visitor(most_rows=3_000)):
        assert read_queries(tmp_path / "q.parquet", NAMED)[0]["1p"].answers.tolist() == [1]
    with working_for(Visitor(most_rows=900)), pytest.raises(KgdashError, match="than 900 names"):
        read_queries(tmp_path / "q.parquet", NAMED)


@pytest.mark.parametrize("honest", [True, False])
def test_run_lengths_of_millions_are_refused_unread(tmp_path, honest):
    # 90 million values in 2 KB took 7.4 GB; here the file says so, or only its page does.
    content = run_lengths(tmp_path, 3_000_000, honest)
    assert len(content) < 2_000
    tracemalloc.start()
    with pytest.raises(KgdashError, match=r"unpacks to 3,000,00\d names"):
        read_queries(content, NAMED)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def run_lengths(tmp_path, count: int, honest: bool) -> bytes:
    """Write one query with one answer many times over, as run lengths."""
    answers = pa.DictionaryArray.from_arrays(np.zeros(count, dtype=np.int32), ["e1"])
    lists = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), answers)
    names = {"anchors": [["e0"]], "relations": [["r0"]], "hard": [["e2"]]}
    table = pa.table({"type": ["1p"], **names, "easy": lists})
    plain = {"write_statistics": False, "store_schema": False}
    pq.write_table(table, tmp_path / "q", compression="zstd", data_page_size=2**30, **plain)
    content = (tmp_path / "q").read_bytes()
    if honest:
        return content
    size = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - size : -8]
    # Numbers are varints of seven bits, doubled: five values, in as many bytes.
    told = bytes(((2 * count) >> shift & 127) | 128 * (shift < 21) for shift in (0, 7, 14, 21))
    assert told in footer
    return content[: -8 - size] + footer.replace(told, b"\x8a\x80\x80\x00") + content[-8:]


def test_a_small_parquet_file_stays_small(tmp_path):
    # One name of a megabyte, a hundred thousand times: 100 GB if it were unpacked each time.
    long = "x" * 2**20
    lists = pa.ListArray.from_arrays(
        pa.array([0, 100_000], pa.int32()),
        pa.DictionaryArray.from_arrays(np.zeros(100_000, dtype=np.int32), [long]),
    )
    names = {"anchors": [["e0"]], "relations": [["r0"]], "easy": [["e1"]]}
    pq.write_table(pa.table({"type": ["1p"], **names, "hard": lists}), tmp_path / "q.parquet")
    assert (tmp_path / "q.parquet").stat().st_size < 2 * 2**20
    found, notes = read_queries(tmp_path / "q.parquet", NAMED)
    assert found["1p"].answers.tolist() == [1]
    assert notes[0].startswith("100,000 of 100,001 answers left out")


def test_row_groups_are_one_file(tmp_path):
    named = pa.table(
        {
            "type": ["1p", "2p", "1p"],
            "anchors": [["e0"], ["e1"], ["e2"]],
            "relations": [["r0"], ["^r1", "r0"], ["r1"]],
            "easy": [["e1"], [], []],
            "hard": [[], ["e0"], ["e2", "e0"]],
        }
    )
    pq.write_table(named, tmp_path / "q.parquet", row_group_size=1)
    found, _ = read_queries(tmp_path / "q.parquet", NAMED)
    assert found["1p"].anchors.tolist() == [[0], [2]]
    assert found["1p"].relations.tolist() == [[0], [1]]
    assert found["1p"].answers.tolist() == [1, 0, 2]
    assert found["2p"].relations.tolist() == [[3, 0]]
    pq.write_table(named.slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(KgdashError, match="holds no query"):
        read_queries(tmp_path / "none.parquet", NAMED)


def test_what_can_not_be_written_is_refused(tmp_path):
    shape = QUERY_TYPES["1p"]
    zero = np.zeros((1, 1), dtype=np.int64)
    asked = {"1p": AskedQueries(shape, zero, zero, zero[0], zero[0], zero[0] > 0)}
    with pytest.raises(KgdashError, match="expected an output file"):
        write_queries(asked, NAMED, tmp_path / "q.pkl")
    with pytest.raises(KgdashError, match="can not stand in a tab-separated table"):
        write_queries(asked, replace(NAMED, entities=("a\tb", "c", "d")), tmp_path / "q.tsv")
    with pytest.raises(KgdashError, match="followed backwards"):
        write_queries(asked, replace(NAMED, relations=("r", "^r")), tmp_path / "q.jsonl")
    assert list(tmp_path.iterdir()) == []
