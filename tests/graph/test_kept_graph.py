"""A large graph that is mapped from the cache answers as the one that was read."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from kgdash.files import cache_folder
from kgdash.files.array_file import read_arrays, write_arrays
from kgdash.files.cache_folder import cache_directory
from kgdash.files.table_cache import cache_size, clear_cache, list_cache, replace_table
from kgdash.graph import SPLITS, kept_graph, name_lookup
from kgdash.graph.datasets import load_dataset
from kgdash.graph.entity_search import search_entities
from kgdash.graph.subgraph import random_walk
from tests.support.fakes import make_graph

NAMED = replace(
    make_graph([(0, 0, 1), (1, 1, 2), (1, 0, 2), (2, 0, 2)], [(2, 0, 0)], [(0, 1, 0)]),
    entity_labels=("naïve", "ẞ", "E1"),
    left_out={"test": 3},
)


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch):
    monkeypatch.setattr(kept_graph, "MANY", 0)
    monkeypatch.setattr(name_lookup, "MANY", 0)


@pytest.fixture(params=["named", "umls"])
def graph(request):
    return NAMED if request.param == "named" else load_dataset("umls")


def never():
    raise AssertionError("it is read again")


def kept(graph):
    return kept_graph.kept_graph("of some files", lambda: graph)


def test_it_answers_as_the_one_that_was_read(graph):
    found, plain = kept(graph), replace(graph)
    assert found is not graph
    assert found.about() == plain.about()
    assert found.left_out == plain.left_out
    for name in ("entities", "relations", "entity_labels", "relation_labels"):
        assert getattr(found, name) == getattr(plain, name)
    assert all((found.splits[s] == plain.splits[s]).all() for s in SPLITS)
    assert (found.digest, found.shown_digest) == (plain.digest, plain.shown_digest)
    assert (found.all_triples == plain.all_triples).all()
    assert found.degrees.tolist() == plain.degrees.tolist()
    for direction in ("either", "outgoing", "incoming"):
        assert (found.adjacency(direction) != plain.adjacency(direction)).nnz == 0
    for side in ("head", "relation", "tail"):
        answers = [g.known().known_answers(plain.all_triples, side) for g in (found, plain)]
        assert all(map(np.array_equal, *answers))
    for text in (plain.entity_labels[1], plain.entities[0], "E", "ss", "i", "nobody"):
        assert search_entities(found, text) == search_entities(plain, text)
    parts = [random_walk(g, 1, 20) for g in (found, plain)]
    assert parts[0].entities.tolist() == parts[1].entities.tolist()
    assert (parts[0].triples() == parts[1].triples()).all()


def test_another_graph_of_its_names_finds_for_itself():
    other = replace(kept(NAMED), splits={**NAMED.splits, "test": NAMED.splits["valid"]})
    plain = replace(NAMED, splits=other.splits)
    assert (other.digest, other.shown_digest) == (plain.digest, plain.shown_digest)
    assert (other.all_triples == plain.all_triples).all()
    assert other.degrees.tolist() == plain.degrees.tolist()


def test_it_is_read_once_and_listed(graph):
    kept(graph)
    assert kept_graph.kept_graph("of some files", never).digest == graph.digest
    listed = list_cache()
    assert listed["kind"].tolist() == ["graph"]
    assert listed["graph"].tolist() == [graph.name]
    assert listed["graph_digest"].tolist() == [graph.digest]
    assert listed["bytes"].tolist() == [cache_size()[1]]
    with pytest.raises(AssertionError, match="read again"):
        kept_graph.kept_graph("of other files", never)
    assert clear_cache(kind="graph") == 1
    with pytest.raises(AssertionError, match="read again"):
        kept_graph.kept_graph("of some files", never)


def test_a_damaged_one_is_read_again(graph):
    kept(graph)
    (path,) = cache_directory().glob("*.arrow")
    content = path.read_bytes()
    path.write_bytes(content[:300] + bytes([content[300] ^ 1]) + content[301:])
    again = kept(graph)
    assert again.digest == graph.digest
    assert path.read_bytes()[:301] == content[:301]


def test_one_that_does_not_fit_into_the_cache_is_not_kept(monkeypatch):
    monkeypatch.setenv("KGDASH_CACHE_LIMIT", "1K")
    assert kept(NAMED) is NAMED
    assert list(cache_directory().iterdir()) == []


def test_what_was_not_used_for_longest_goes_first(monkeypatch):
    kept_graph.keep_graph("a", NAMED)
    size = cache_size()[1]
    monkeypatch.setenv("KGDASH_CACHE_LIMIT", str(size * 2))
    for source in "ba":
        kept_graph.kept_graph(source, lambda: NAMED)
    for path, _ in cache_folder.stored_files(".arrow")[:-1]:
        cache_folder.note_use(path)
    kept_graph.keep_graph("c", NAMED)
    assert cache_size() == (2, size * 2)


def test_small_ones_are_not_kept(monkeypatch):
    monkeypatch.setattr(kept_graph, "MANY", 10)
    assert kept(NAMED) is NAMED
    assert cache_size() == (0, 0)


def test_graphs_never_drive_tables_out(monkeypatch):
    kept_graph.keep_graph("a", NAMED)
    size = cache_size()[1]
    clear_cache()
    replace_table({"a": 1}, pd.DataFrame({"x": range(9)}), {"kind": "ranks", "seconds": 9.0})
    monkeypatch.setenv("KGDASH_CACHE_LIMIT", str(size + 1))
    for source in "abc":
        kept_graph.keep_graph(source, NAMED)
    assert sorted(list_cache()["kind"]) == ["graph", "ranks"]


def shorter(parts, name):
    return parts | {name: parts[name][:-1]}


def backwards(parts, name):
    texts, ends = parts[name], np.array([0, 9, 2, 3], dtype=np.int64)
    _, _, data = texts.buffers()
    return parts | {name: pa.LargeStringArray.from_buffers(3, pa.py_buffer(ends), data)}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        *((shorter, name) for name in ("entities", "entity_labels", "folded_names", "degrees")),
        *((shorter, name) for name in ("starts", "neighbours", "by_tail")),
        *((backwards, name) for name in ("entities", "folded_labels")),
    ],
)
def test_parts_that_do_not_fit_are_made_again(change, name):
    """Their sum is right: another kgdash may have written them."""
    kept(NAMED)
    (path,) = cache_directory().glob("*.arrow")
    parts = change(read_arrays(path), name)
    write_arrays(path.with_suffix(".new"), parts.items(), {})
    path.with_suffix(".new").rename(path)
    assert kept(NAMED).entities == NAMED.entities
    assert kept_graph.kept_graph("of some files", never).entity_labels == NAMED.entity_labels
