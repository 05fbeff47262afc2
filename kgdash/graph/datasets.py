"""A dataset, by PyKEEN name or from a folder, as a KnowledgeGraph."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.bounded_reading import reads
from kgdash.files.roots import only_some_may_be_opened, opened
from kgdash.files.visitor import visitor
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.graph.arrow_texts import compact, release_memory
from kgdash.graph.dataset_files import files_of_facts, find_file, find_split
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.triple_columns import (
    check_order,
    columns_of,
    count_distinct,
    distinct_names,
    labels_of,
    numbered,
    read_columns,
    read_label_columns,
)
from kgdash.graph.triple_files import is_header, read_rows, read_triples

#: PyKEEN datasets that it need not download
_BUNDLED = ("nations", "kinships", "umls")


def load_dataset(
    source: str | Path, vocabulary: tuple[Sequence[str], Sequence[str]] | None = None
) -> KnowledgeGraph:
    """Load a dataset.

    :param source: a folder with train, valid and test triples (TSV, TXT or CSV, plain or .gz; rows
        of head, relation, tail as ids or names; optionally ``entity_labels.tsv`` and
        ``relation_labels.tsv`` with rows of name, label), or a PyKEEN dataset name; "nations",
        "kinships" and "umls" go before folders of these names
    :param vocabulary: names of entities and relations in the order of their ids, as a trained model
        has them; default: the names in train, sorted, as PyKEEN orders them
    :return: the graph; triples with an entity or relation unseen in training are left out and
        counted in ``left_out``
    :raises KgdashError: if nothing is there, a file is malformed, or a download fails
    """
    is_path = any(mark in str(source) for mark in "/\\")
    if only_some_may_be_opened():
        # A bare name is PyKEEN's there: nobody learns what lies where the server was started.
        if not is_path:
            if str(source).lower() not in _BUNDLED and not visitor().may("train"):
                raise KgdashError(f"you may not have dataset {source} downloaded; name its folder")
            return _from_pykeen(str(source), vocabulary)
        source = opened(source)
    # A folder of that name where a command is called may be anybody's.
    if not is_path and isinstance(source, str) and source.lower() in _BUNDLED:
        return _from_pykeen(str(source), vocabulary)
    # os.path, unlike Path, says of a name that can not be that nothing is there.
    if os.path.isdir(source):
        return _from_folder(Path(source), vocabulary)
    if is_path or os.path.exists(source):
        raise KgdashError(
            f"no dataset folder {source}; give an existing folder with train, valid and test files "
            "or the name of a PyKEEN dataset such as umls"
        )
    return _from_pykeen(str(source), vocabulary)


def check_folder(folder: Path) -> None:
    """Refuse a folder without training triples, or where a split may be missed; none is read.

    :raises KgdashError: saying what was expected there
    """
    if not os.path.isdir(folder):
        raise KgdashError(f"There is no folder {folder}.")
    if find_split(folder, "train") is None:
        present = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise KgdashError(
            f"no training triples in {folder}: expected train.tsv, train.txt or train.csv, "
            f"plain or .gz; found {present}"
        )
    for split in ("valid", "test"):
        find_split(folder, split)


@reads
def _from_folder(
    folder: Path, vocabulary: tuple[Sequence[str], Sequence[str]] | None
) -> KnowledgeGraph:
    check_folder(folder)
    labels = [
        read_label_columns(path) if (path := find_file(folder, (f"{kind}_labels",))) else None
        for kind in ("entity", "relation")
    ]
    name = folder.name or folder.resolve().name
    # Nobody but the one that numbers them holds the columns: of a large graph they take a gigabyte.
    graph = build_graph(
        name, {split: _columns(folder, split) for split in SPLITS}, vocabulary, labels[0], labels[1]
    )
    for path in files_of_facts(folder):
        _check_held(path, graph)
    return replace(graph, folder=folder.resolve())


def _check_held(path: Path, graph: KnowledgeGraph) -> None:
    """Refuse a file beside the splits that holds triples of the graph which none of them holds."""
    try:
        table = read_columns(path)
    except KgdashError:
        return  # something else
    ids = numbered(table, graph.entities, graph.relations)
    related, known = int((ids[:, 1] >= 0).sum()), ids[(ids >= 0).all(axis=1)]
    # In sparse graphs few of their entities are in train; of numbers anything may be.
    if 2 * related < len(ids) or not len(known):
        return
    if more := len(known) - int(graph.known().contains(known).sum()):
        raise KgdashError(
            f"{path}: {more:,} of {len(ids):,} triples, all of train's entities and relations, are "
            "held by no split, as known facts are in Neural-LP's and MINERVA's datasets: the "
            "filter would lack them. Append those to train, or move the file away if it is "
            "something else"
        )


def _columns(folder: Path, split: str) -> pa.Table:
    path = find_split(folder, split)
    if path is None:
        return columns_of(np.empty((0, 3), dtype=object))
    columns = read_columns(path)
    if split == "train" and not _has_header(path):
        check_order(columns, str(path))
    return columns


def _has_header(path: Path) -> bool:
    first = next(iter(read_rows(path)), None)
    return first is not None and is_header(first[1], f"{path}, line 1")


def build_graph(
    name: str,
    named: Mapping[str, np.ndarray | pa.Table],
    vocabulary: tuple[Sequence[str], Sequence[str]] | None = None,
    entity_labels: pa.Table | None = None,
    relation_labels: pa.Table | None = None,
) -> KnowledgeGraph:
    """Make a graph from triples of names.

    :param name: what the graph is called
    :param named: split -> array of str, shape ``(n, 3)``, or columns head, relation, tail
    :param vocabulary: as in `load_dataset`
    :param entity_labels: columns name and label, where there are some
    :param relation_labels: likewise
    :raises KgdashError: if no training triple is left
    """
    tables = {
        split: columns_of(rows) if isinstance(rows, np.ndarray) else rows
        for split, rows in named.items()
    }
    del named
    entities, relations = vocabulary or (
        distinct_names(tables["train"], ("head", "tail")),
        distinct_names(tables["train"], ("relation",)),
    )
    release_memory()
    splits, left_out = {}, {}
    for split in SPLITS:
        table = tables.pop(split)
        ids = numbered(table, entities, relations)
        seen = (ids >= 0).all(axis=1)
        # Several unseen names share the id -1, so distinct triples are counted by name.
        distinct = None if seen.all() else count_distinct(table)
        del table
        release_memory()
        ids = ids if distinct is None else ids[seen]
        known = KnownTriples(ids, len(entities), len(relations))
        splits[split] = known.triples() if len(entities) else ids[:0]
        left_out[split] = 0 if distinct is None else distinct - len(splits[split])
    if not len(splits["train"]):
        raise KgdashError(f"dataset {name} has no training triples")
    labels = labels_of(compact(entities), entity_labels)
    release_memory()
    return KnowledgeGraph(
        name=name,
        entities=compact(entities),
        relations=tuple(relations),
        splits=splits,
        entity_labels=labels,
        relation_labels=tuple(labels_of(relations, relation_labels)),
        left_out={split: count for split, count in left_out.items() if count},
    )


def _from_pykeen(
    name: str, vocabulary: tuple[Sequence[str], Sequence[str]] | None
) -> KnowledgeGraph:
    # Imported here: PyKEEN takes seconds to import, and a folder does without it.
    from pykeen.datasets import dataset_resolver

    known = sorted(dataset_resolver.lookup_dict)
    try:
        cls = dataset_resolver.lookup(name)
    except (KeyError, ValueError):
        raise unknown_name("dataset", name, known, "PyKEEN; nor is it a folder here") from None
    try:
        dataset = cls()
        factories = {
            "train": dataset.training,
            "valid": dataset.validation,
            "test": dataset.testing,
        }
    except Exception as error:  # whatever a download, an archive or a parser may raise
        raise KgdashError(
            f"PyKEEN could not provide dataset {name} ({type(error).__name__}: {error}). Datasets "
            "other than nations, kinships and umls are downloaded at first use: check the network, "
            "or download it yourself and give its folder instead"
        ) from error
    named = {split: _labelled(factory) for split, factory in factories.items()}
    graph = build_graph(dataset_resolver.normalize_cls(cls), named, vocabulary)
    lost = {s: _lost_in_mapping(dataset, s, named[s]) + graph.left_out.get(s, 0) for s in SPLITS}
    return replace(graph, left_out={split: count for split, count in lost.items() if count})


def _labelled(factory: Any) -> np.ndarray:
    if factory is None:
        return np.empty((0, 3), dtype=object)
    if not hasattr(factory, "entity_id_to_label"):
        return factory.mapped_triples.numpy().astype(str).astype(object)
    triples = factory.mapped_triples.numpy()
    entities = np.array(
        [factory.entity_id_to_label[i] for i in range(factory.num_entities)], object
    )
    relations = np.array(
        [factory.relation_id_to_label[i] for i in range(factory.real_num_relations)], object
    )
    head, relation, tail = triples.T
    return np.stack([entities[head], relations[relation], entities[tail]], axis=1)


def _lost_in_mapping(dataset: Any, split: str, kept: np.ndarray) -> int:
    """Count the triples that PyKEEN dropped while mapping names to ids, if its file is at hand."""
    attribute = {"train": "training_path", "valid": "validation_path", "test": "testing_path"}
    path = getattr(dataset, attribute[split], None)
    if not isinstance(path, Path) or not path.is_file():
        return 0
    try:
        return max(0, len({tuple(row) for row in read_triples(path)}) - len(kept))
    except KgdashError:  # PyKEEN reads formats (other columns, other separators) that we do not
        return 0
