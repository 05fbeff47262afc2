"""Files of entity types."""

import gzip
from pathlib import Path

import pytest

from kgdash.errors import KgdashError
from kgdash.files import bounds
from kgdash.graph.entity_types import EntityTypes, entity_types, read_entity_types
from tests.support.fakes import make_graph
from tests.support.turns import longest_hold

GRAPH = make_graph([(0, 0, 1), (1, 0, 2), (2, 0, 3)])


def read(text, name="types.tsv"):
    return read_entity_types(Path(name), GRAPH, text.encode())


def test_pairs_are_sorted_and_each_once():
    found = read("entity\ttype\ne2\tcity\nE0\tperson\n\ne0\tartist\ne0\tperson\nelsewhere\tcity\n")
    assert found.names == ("artist", "city", "person")
    assert found.entities.tolist() == [0, 0, 2]
    assert found.types.tolist() == [0, 2, 1]
    assert found.unknown == 1
    assert found.entities_of(["person", "city"]).tolist() == [0, 2]
    assert found.entities_of(["artist"]).tolist() == [0]


def test_an_entity_that_is_called_entity():
    graph = make_graph([(0, 0, 1)])
    object.__setattr__(graph, "entities", ("entity", "e1"))
    found = read_entity_types(Path("x.tsv"), graph, b"entity\ttype\n")
    assert (found.names, found.entities.tolist()) == (("type",), [0])


def test_commas_and_gzip(tmp_path):
    path = tmp_path / "types.csv.gz"
    path.write_bytes(gzip.compress(b'e1,"town, small"\n'))
    assert read_entity_types(path, GRAPH).names == ("town, small",)
    content = path.read_bytes()
    assert read_entity_types(Path("t.csv.gz"), GRAPH, content).names == ("town, small",)
    with pytest.raises(KgdashError, match="not a whole gzip file"):
        read_entity_types(Path("t.csv.gz"), GRAPH, content[:-9])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("e0\tperson\ne1\n", r"2 columns entity, type; found 1: e1 \(types.tsv, line 2\)"),
        ("e0\tperson\tartist\n", "found 3: e0, person, artist"),
        ("e0\t\n", r"line 1\)"),
        ("", "gives no entity of graph tiny a type.*it is empty"),
        ("x\tperson\n", "found 'x'"),
    ],
)
def test_refusals(text, told):
    with pytest.raises(KgdashError, match=told):
        read(text)


def test_undecodable_lines_are_named():
    with pytest.raises(KgdashError, match=r"types.tsv is not UTF-8 text \(line 2\)"):
        read_entity_types(Path("types.tsv"), GRAPH, b"e0\ta\ne1\t\xff\n")
    with pytest.raises(KgdashError, match="can not read"):
        read_entity_types(Path("nowhere.tsv"), GRAPH)


def test_names_of_a_visitor_s_types_that_pages_list(as_visitor, monkeypatch):
    monkeypatch.setattr(bounds, "_LETTERS", 9)
    as_visitor(folder="ada")
    assert read("e0\tperson\n").names == ("person",)
    with pytest.raises(KgdashError, match=r"types in types\.tsv, which pages list, are 2 of 12"):
        read("e0\tperson\ne1\tartist\n")


def test_ambiguous_labels_and_unknown_types():
    graph = make_graph([(0, 0, 1), (1, 0, 2)])
    object.__setattr__(graph, "entity_labels", ("same", "same", "E2"))
    with pytest.raises(KgdashError, match=r"labelled 'same'.*types.tsv, line 2"):
        read_entity_types(Path("types.tsv"), graph, b"E2\ta\nsame\tb\n")
    with pytest.raises(KgdashError, match="unknown type 'c'"):
        entity_types([(0, "a"), (1, "b")]).entities_of(["c"])


def test_others_come_to_a_turn_while_many_types_are_read():
    names = [f"{'x' * 40}{number}" for number in range(75_000)]
    rows = [(f"e{n // 75_000}", names[n * 7919 % 75_000]) for n in range(300_000)]
    content = "\n".join(map("\t".join, rows)).encode()
    read: list[EntityTypes] = []
    longest, whole = longest_hold(
        lambda: read.append(read_entity_types(Path("x.tsv"), GRAPH, content))
    )
    assert len(read[0].entities) == len(set(rows))
    assert longest < whole / 5  # a third where the pairs were sorted at once
