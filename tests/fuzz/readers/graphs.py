"""Readers of triples, true and false, and of labels, types and lists of entities."""

import gzip
from pathlib import Path

import numpy as np

from kgdash.graph import KnowledgeGraph
from kgdash.graph.datasets import build_graph, load_dataset
from kgdash.graph.entity_types import read_entity_types
from kgdash.graph.restriction import read_entities
from kgdash.graph.triple_files import read_graph_triples, read_labels, read_triples
from kgdash.studies.classification.given_negatives import read_negatives
from tests.fuzz.mutation.containers import pack
from tests.fuzz.reader import Reader
from tests.support.fakes import make_graph

GRAPH = make_graph(
    [(0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 0, 4), (0, 1, 2), (5, 2, 0), (6, 0, 7), (7, 1, 0)],
    [(0, 0, 2)],
    [(1, 0, 3), (2, 1, 4)],
    entities=8,
    relations=3,
)

_ROWS = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in GRAPH.all_triples.tolist()]


def lines(rows, separator: str = "\t") -> bytes:
    """Write a table."""
    return "".join(separator.join(row) + "\n" for row in rows).encode()


_TSV = lines([("head", "relation", "tail"), *_ROWS])
_CSV = lines(_ROWS, ",") + b'"e,0","r ""0""","e\n1"\n'
_FALSE = lines([("e4", "r0", "e0"), ("e7", "r2", "e6"), ("E4", "R1", "E1"), ("x", "r0", "e1")])
_LABELS = lines([(f"e{n}", f"Entity {n}") for n in range(8)])
_TYPES = lines([("entity", "type"), *((f"e{n}", "ab"[n % 2]) for n in range(8)), ("x", "c")])
_NAMES = b"e0\nE1\n\ne2 \n"


def _graph(path: Path) -> KnowledgeGraph:
    nothing = np.empty((0, 3), dtype=object)
    graph = build_graph("g", {"train": read_triples(path), "valid": nothing, "test": nothing})
    return _usable(graph)


def _usable(graph: KnowledgeGraph) -> KnowledgeGraph:
    "\n".join((*graph.entity_labels, *graph.relation_labels, graph.digest)).encode()
    return graph


def _folders() -> list[bytes]:
    labels = lines([(f"r{n}", f"R {n}") for n in range(3)])
    parts = {"train": _TSV, "valid": _ROWS[:2], "test": _ROWS[2:4]}
    return [
        pack(
            {
                "train.tsv": parts["train"],
                "valid.csv": lines(parts["valid"], ","),
                "test.txt.gz": gzip.compress(lines(parts["test"]), mtime=0),
                "entity_labels.tsv": _LABELS,
                "relation_labels.csv": labels.replace(b"\t", b","),
            }
        )
    ]


def _negatives(path: Path) -> None:
    name = Path("false.csv" if b"," in path.read_bytes()[:99] else "false.tsv")
    content = path.read_bytes()
    files = {"valid": name, "test": Path("test.tsv")}
    read_negatives(files, GRAPH, {"valid": content, "test": _FALSE})


READERS = (
    Reader("triples-tsv", lambda: [_TSV], _graph, "case.tsv"),
    Reader("triples-csv", lambda: [_CSV], _graph, "case.csv"),
    Reader("triples-gzip", lambda: [gzip.compress(_TSV, mtime=0)], _graph, "case.tsv.gz"),
    Reader(
        "named-triples", lambda: [_FALSE[:-12]], lambda p: read_graph_triples(p, GRAPH), "a.tsv"
    ),
    Reader("datasets", _folders, lambda p: _usable(load_dataset(p)), "case.folder"),
    Reader("labels", lambda: [_LABELS], read_labels, "case.tsv"),
    Reader("entity-types", lambda: [_TYPES], lambda p: read_entity_types(p, GRAPH), "case.tsv"),
    Reader("entity-lists", lambda: [_NAMES], lambda p: read_entities(p, GRAPH), "case.txt"),
    Reader("negatives", lambda: [_FALSE, _FALSE.replace(b"\t", b",")], _negatives, "case.tsv"),
)
