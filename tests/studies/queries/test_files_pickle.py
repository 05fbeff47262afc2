"""Folders of Query2box and BetaE: written here as they are published, and the published ones."""

import gzip
import pickle
from collections import defaultdict
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.queries.files import read_queries
from kgdash.studies.queries.files_pickle import read_pickle_folder
from kgdash.studies.queries.graph_agreement import agreement_notes, graph_agreement
from kgdash.studies.queries.query_types import QUERY_TYPES, AskedQueries
from tests.studies.queries.test_files import GRAPH, assert_same, several
from tests.support.instance_fakes import small_graph
from tests.support.paths import SHARED

TYPES = {"1c": "1p", "2c": "2p", "3c": "3p", "2i": "2i", "3i": "3i"}
TYPES |= {"ci": "pi", "ic": "ip", "2u": "2u", "uc": "up"}

PUBLISHED = SHARED / "query2box-fb15k-237"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason=f"no {PUBLISHED}")


def each(queries):
    """Yield branches, what follows them, and easy and hard answers of each query."""
    ends = np.cumsum((0, *queries.kind.branches))
    for number in range(len(queries)):
        steps = tuple(map(int, queries.relations[number]))
        anchors = map(int, queries.anchors[number])
        branches = tuple((a, steps[i:j]) for a, i, j in zip(anchors, ends, ends[1:], strict=False))
        of = queries.owner == number
        sets = [set(map(int, queries.answers[of & (queries.hard == flag)])) for flag in (0, 1)]
        yield branches, steps[ends[-1] :], *sets


def write(folder, **files) -> None:
    for name, value in files.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(value, 4))


def write_query2box(folder, asked, split="test") -> None:
    relations = [*GRAPH.relations, *(f"{name}_reverse" for name in GRAPH.relations)]
    write(folder, ind2ent=dict(enumerate(GRAPH.entities)), ind2rel=dict(enumerate(relations)))
    for short, kind in TYPES.items():
        if kind in asked:
            found = [(b + after, easy, hard) for b, after, easy, hard in each(asked[kind])]
            write(
                folder,
                **{
                    f"{split}_ans_{short}": {q: easy | hard for q, easy, hard in found},
                    f"{split}_ans_{short}_hard": {q: hard for q, _, hard in found},
                },
            )


def structure(query):
    if isinstance(query, tuple) and len(query) == 2 and isinstance(query[0], int):
        return ("e", tuple("n" if r == -2 else "r" for r in query[1]))
    return tuple(
        ("u",)
        if part == (-1,)
        else ("r",)
        if isinstance(part[0], int) and len(part) == 1
        else structure(part)
        for part in query
    )


def nested(kind, branches, after):
    if len(branches) == 1:
        return branches[0]
    joined = (*branches, (-1,)) if kind.join == "or" else branches
    return (joined, after) if after else joined


def write_betae(folder, asked, split="test", more=()) -> None:
    names = [sign + name for name in GRAPH.relations for sign in "+-"]
    # BetaE numbers a relation and its inverse one after the other.
    number = {r: 2 * (r % 3) + (r >= 3) for r in range(6)}
    queries, easy_answers, hard_answers = (defaultdict(set) for _ in range(3))
    for kind, of_kind in asked.items():
        for branches, after, easy, hard in each(of_kind):
            renumbered = tuple((a, tuple(number[r] for r in steps)) for a, steps in branches)
            query = nested(QUERY_TYPES[kind], renumbered, tuple(number[r] for r in after))
            queries[structure(query)].add(query)
            easy_answers[query], hard_answers[query] = easy, hard
    for query in more:
        queries[structure(query)].add(query)
        easy_answers[query], hard_answers[query] = {0}, {1}
    write(
        folder,
        **{f"{split}-queries": queries},
        id2ent=dict(enumerate(GRAPH.entities)),
        id2rel=dict(enumerate(names)),
    )
    if split == "train":
        every = {query: easy_answers[query] | hard_answers[query] for query in easy_answers}
        write(folder, **{"train-answers": defaultdict(set, every)})
    else:
        answers = {f"{split}-easy-answers": easy_answers, f"{split}-hard-answers": hard_answers}
        write(folder, **answers)


def ordered(asked):
    """Bring queries into the order of their numbers: sets have none."""
    return {
        kind: q.take(np.lexsort(np.column_stack([q.anchors, q.relations]).T[::-1]))
        for kind, q in asked.items()
    }


@settings(max_examples=25)
@given(several(GRAPH))
def test_query2box(tmp_path_factory, asked):
    folder = tmp_path_factory.mktemp("q")
    write_query2box(folder, asked)
    found, notes = read_queries(folder, GRAPH)
    assert_same(found, asked)
    assert notes == []


@settings(max_examples=25)
@given(several(GRAPH))
def test_betae(tmp_path_factory, asked):
    folder = tmp_path_factory.mktemp("q")
    write_betae(folder, asked)
    found, notes = read_queries(folder, GRAPH)
    assert_same(ordered(found), ordered(asked))
    assert notes == []


def one_query(kind="2i"):
    shape = QUERY_TYPES[kind]
    anchors = np.arange(len(shape.branches))[None]
    relations = np.arange(shape.num_relations)[None]
    owner, answers = np.array([0, 0]), np.array([2, 3])
    return {kind: AskedQueries(shape, anchors, relations, owner, answers, answers > 2)}


def test_queries_with_negation_are_left_out_and_counted(tmp_path):
    negated = ((0, (1,)), (1, (2, -2)))
    write_betae(tmp_path, one_query("up"), more=[negated])
    found, notes = read_queries(tmp_path, GRAPH)
    assert list(found) == ["up"]
    assert notes == ["1 of 2 queries left out: with negation, or of other types"]


@pytest.mark.parametrize("writer", [write_query2box, write_betae])
def test_other_splits(tmp_path, writer):
    writer(tmp_path, one_query(), split="valid")
    assert_same(read_queries(tmp_path, GRAPH, split="valid")[0], one_query())
    with pytest.raises(KgdashError, match=r"test_ans_T\.pkl.*found"):
        read_queries(tmp_path, GRAPH)
    with pytest.raises(KgdashError, match="unknown split"):
        read_queries(tmp_path, GRAPH, split="tests")


def test_answers_of_train_are_easy(tmp_path):
    write_betae(tmp_path, one_query(), split="train")
    found, _ = read_queries(tmp_path, GRAPH, split="train")
    assert found["2i"].answers.tolist() == [2, 3]
    assert not found["2i"].hard.any()


class Runs:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


@pytest.mark.parametrize("writer", [write_query2box, write_betae])
def test_every_file_is_read_without_running_it(tmp_path, writer):
    folder, made = tmp_path / "q", tmp_path / "made"
    folder.mkdir()
    writer(folder, one_query())
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        path.write_bytes(pickle.dumps(Runs(made)))
        with pytest.raises(KgdashError, match=f"{path.name}.*refused"):
            read_queries(folder, GRAPH)
        assert not made.exists()
        path.write_bytes(content)
    read_queries(folder, GRAPH)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"ind2ent": {1: "e0"}}, "numbers from 0"),
        ({"ind2rel": [1]}, "expected a dict"),
        ({"test_ans_2i": {((0, (1,)),): {1}}}, "expected a query of type 2i"),
        ({"test_ans_2i": {"x": {1}}}, "expected a query of type 2i"),
        ({"test_ans_2i": {((0, (1,)), (0, ("r",))): {1}}}, "expected a query of type 2i"),
        ({"test_ans_2i": {((0, (1,)), (0, (-2,))): {1}}}, "expected a query of type 2i"),
        ({"test_ans_2i": {((0, (1,)), (0, (1,))): {"a"}}}, "sets of entity numbers"),
        ({"test_ans_2i": {((0, (1,)), (0, (1,))): 3}}, "sets of entity numbers"),
        ({"test_ans_2i": {((0, (1,)), (0, (1,))): {99}}}, "entity number 99 has no name"),
        ({"test_ans_2i": {((0, (1,)), (0, (77,))): {1}}}, "relation number 77 has no name"),
        ({"test_ans_2i": {((0, (1,)), (0, (1,))): {-1}}}, "sets of entity numbers"),
        ({"test_ans_2i": {((0, (1,)), (0, (1,))): {2**63}}}, "more than 32 bits"),
        ({"test_ans_2i": {7: {1}}}, "expected a query of type 2i"),
        ({"test_ans_2i_hard": None}, "no test_ans_2i_hard.pkl"),
        ({"ind2ent": None}, "no ind2ent.pkl"),
    ],
)
def test_other_content_is_refused(tmp_path, files, said):
    write_query2box(tmp_path, one_query())
    for name, value in files.items():
        if value is None:
            (tmp_path / f"{name}.pkl").unlink()
        else:
            write(tmp_path, **{name: value})
    with pytest.raises(KgdashError) as caught:
        read_queries(tmp_path, GRAPH)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value) or "ind2" in str(caught.value)


@pytest.mark.parametrize("queries", [7, "abc", {"a": 1}, [[0, (1,)]], {7}, [([0], (1,))], [(0, 1)]])
def test_other_queries_of_betae_are_refused(tmp_path, queries):
    write_betae(tmp_path, one_query())
    write(tmp_path, **{"test-queries": {("e", ("r",)): queries}})
    with pytest.raises(
        KgdashError, match=r"expected (sets of queries|a query of type 1p).*test-que"
    ):
        read_queries(tmp_path, GRAPH)


def test_one_set_of_answers_for_many_queries_is_refused(tmp_path):
    write_betae(tmp_path, one_query())
    asked, answers = [(number, (0,)) for number in range(1000)], set(range(1000))
    write(
        tmp_path,
        **{
            "id2ent": {number: f"e{number}" for number in range(1000)},
            "test-queries": {("e", ("r",)): set(asked)},
            "test-easy-answers": dict.fromkeys(asked, answers),
        },
    )
    with pytest.raises(KgdashError, match=r"queries share their answers in .*test-easy"):
        read_queries(tmp_path, GRAPH)


NUMBERS = st.integers(-3, 9) | st.sampled_from([2**31, 2**63, 2**64])
ATOMS = NUMBERS | st.text("ereu_", max_size=3) | st.none() | st.booleans()
KEYS = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)
QUERIES = KEYS | st.sampled_from(
    [((0, (1,)), (0, (1,))), ((0, (1,)), (1, (0,))), (0, (1,)), ("e", ("r",))]
)
CONTENTS = st.recursive(
    QUERIES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.sets(QUERIES, max_size=3) | st.dictionaries(QUERIES, inner)
    ),
    max_leaves=10,
)


@pytest.mark.parametrize("writer", [write_query2box, write_betae])
@settings(max_examples=150, deadline=None)
@given(content=CONTENTS, place=st.integers(0, 10))
def test_whatever_a_file_holds_is_read_or_refused(tmp_path_factory, writer, content, place):
    folder = tmp_path_factory.mktemp("q")
    writer(folder, one_query())
    path = sorted(folder.iterdir())[place % len(list(folder.iterdir()))]
    path.write_bytes(pickle.dumps(content, 4))
    with suppress(KgdashError):
        read_queries(folder, GRAPH)


def test_agreement_with_a_graph_by_hand():
    # 0 -r0-> 1 in train, 1 -r0-> 2 in valid, 1 -r0-> 3 in test
    graph = small_graph([(0, 0, 1)], [(1, 0, 2)], [(1, 0, 3)], entities=4, relations=1)
    shape, zero = QUERY_TYPES["1p"], np.zeros((1, 1), dtype=np.int64)

    def noted(answers, hard):
        owner = np.zeros(len(answers), dtype=np.int64)
        asked = AskedQueries(
            shape, zero + 1, zero, owner, np.array(answers), np.array(hard, dtype=bool)
        )
        table = graph_agreement({"1p": asked}, graph)
        return table.iloc[0, 4:].tolist(), agreement_notes(table, "tiny")

    right = "the answers of all 1 queries are those of graph tiny"
    assert noted([2, 3], [0, 1]) == (
        [0, 0, 0, 1, 0],
        [right, "hard answers are those outside train+valid"],
    )
    assert noted([2, 3], [1, 1])[1] == [right, "hard answers are those outside train"]
    counts, notes = noted([0, 3], [1, 0])
    assert counts == [1, 1, 1, 1, 1]
    assert "1 are missing, 1 are more" in notes[0]
    assert "not defined by the graph's splits" in notes[1]


@needs_published
def test_published_answers_are_those_of_the_graph(tmp_path):
    graph = load_dataset(SHARED / "fb15k-237")
    for name in ("ind2ent", "ind2rel"):
        (tmp_path / f"{name}.pkl").symlink_to(PUBLISHED / f"{name}.pkl")
    some = pickle.loads((PUBLISHED / "test_ans_2i.pkl").read_bytes())
    hard = pickle.loads((PUBLISHED / "test_ans_2i_hard.pkl").read_bytes())
    chosen = list(some)[::50]
    write(
        tmp_path,
        **{
            "test_ans_2i": {query: some[query] for query in chosen},
            "test_ans_2i_hard": {query: hard[query] for query in chosen},
        },
    )
    asked, notes = read_queries(tmp_path, graph)
    table = graph_agreement(asked, graph)
    assert notes == []
    assert table["queries"].tolist() == [len(chosen)] == [100]
    assert table["answers"].tolist() == [sum(len(some[query]) for query in chosen)]
    assert table["other_answers"].tolist() == table["not_outside_train+valid"].tolist() == [0]
    assert table["not_outside_train"].item() > 0


def test_a_query_that_is_written_in_two_ways(tmp_path):
    branches = ((0, (0,)), (1, (1,)))
    both = {(branches, (0,)), (branches, ((0,),))}
    kind = ((("e", ("r",)), ("e", ("r",))), ("r",))
    answers = {query: {2} for query in both}
    write(tmp_path, **{"test-queries": {kind: both}, "test-hard-answers": answers})
    write(tmp_path, **{"test-easy-answers": {}, "id2ent": dict(enumerate(GRAPH.entities))})
    write(tmp_path, id2rel={n: f"+{name}" for n, name in enumerate(GRAPH.relations)})
    assert len(read_pickle_folder(tmp_path)[0]) == 2


def test_a_packed_file_of_far_more_than_it_takes_is_refused(tmp_path):
    content = pickle.dumps(dict.fromkeys(range(2**20), "same"), 2)
    (tmp_path / "ind2ent.pkl").write_bytes(gzip.compress(content))
    write(tmp_path, ind2rel={}, test_ans_1c={}, test_ans_1c_hard={})
    with pytest.raises(KgdashError, match="more than 4 times its size"):
        read_pickle_folder(tmp_path)
