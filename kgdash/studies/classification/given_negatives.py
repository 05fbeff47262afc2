"""False triples that a dataset ships or a user gives, such as CoDEx's, verified by people.

Defined in numbers.md#7-triple-classification.
"""

from array import array
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.regular import file_stamp
from kgdash.files.roots import may_open
from kgdash.graph import KnowledgeGraph
from kgdash.graph.dataset_files import STEMS, find_file
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.graph.triple_files import read_graph_triples, read_triples
from kgdash.runs import Run

#: file names, without extension, under which a dataset's folder may hold them
_STEMS = {split: [f"{stem}_negatives" for stem in STEMS[split]] for split in ("valid", "test")}

#: what counts as false, where no file is named
KINDS = ("closed-world", "verified")


@dataclass(frozen=True)
class GivenNegatives:
    """False triples for validation and test: int64 ids, ``(n, 3)`` each, distinct, none known.

    ``notes`` say what of the files was left out, and how many triples stand in both.
    """

    valid: np.ndarray
    test: np.ndarray
    notes: tuple[str, ...] = ()


def find_negatives(run: Run) -> Mapping[str, Path] | None:
    """Return the files of negatives in the dataset folder that a run names, or None.

    One that is named by its whole path: of another, whatever folder has its name here would be
    taken.

    :return: "valid" and "test" -> path
    :raises KgdashError: if the folder holds several files for one of them
    """
    dataset = run.provenance.get("dataset")
    folder = Path(str(dataset or ""))
    if not folder.is_absolute() or not may_open(folder) or not folder.is_dir():
        return None
    found = {split: find_file(folder, stems) for split, stems in _STEMS.items()}
    if found["valid"] is None or found["test"] is None:
        return None
    return {split: path for split, path in found.items() if path is not None}


def read_negatives(
    files: Mapping[str, Path], graph: KnowledgeGraph, contents: Mapping[str, bytes] | None = None
) -> GivenNegatives:
    """Read files of false triples, as names or labels of a graph.

    Triples with an entity or relation that the graph does not have, and known triples, are left out
    and counted in the notes; repeated ones count once.

    :param files: "valid" and "test" -> TSV, TXT or CSV, plain or .gz, of head, relation, tail
    :param contents: of the files, where they are not on disk
    :raises KgdashError: if a file is missing, malformed or empty, or nothing is left of it
    """
    read, notes = {}, []
    for split in ("valid", "test"):
        path = files[split]
        read[split], left_out = _read(path, graph, (contents or {}).get(split))
        notes += [f"{path.name}: {count:,} {why}" for why, count in left_out.items() if count]
    both = len(read["valid"]) + len(read["test"])
    both -= len(distinct_rows(np.concatenate([read["valid"], read["test"]])).rows)
    if both:
        notes.append(
            f"{both:,} of {len(read['test']):,} false triples of test are those of validation, "
            "too: what is fitted there looks better than it is"
        )
    return GivenNegatives(read["valid"], read["test"], tuple(notes))


def verified_stamp(run: Run) -> tuple[tuple[Any, ...], ...]:
    """Return paths and stamps of the files of `find_negatives`: what changes when they do."""
    with suppress(KgdashError, OSError):
        files = (find_negatives(run) or {}).values()
        return tuple((str(path), *file_stamp(path)) for path in files)
    return ()


def verified_negatives(run: Run) -> np.ndarray | None:
    """Return the negatives in the run's dataset folder, or None if it has none.

    :return: int64 ids, shape ``(n, 3)``
    :raises KgdashError: if the files are there but can not be used
    """
    files = find_negatives(run)
    if files is None:
        return None
    given = read_negatives(files, run.graph)
    return np.concatenate([given.valid, given.test])


def negatives_by_name(run: Run, names: Iterable[str]) -> np.ndarray | None:
    """Return the negatives that "closed-world" (None), "verified" or paths of files stand for.

    :param names: one of `KINDS` alone, or files of head, relation, tail
    :raises KgdashError: if the dataset has no verified ones, or a file can not be used
    """
    names = list(names)
    if names in ([], ["closed-world"]):
        return None
    if names == ["verified"]:
        found = verified_negatives(run)
        if found is None:
            raise KgdashError(
                f"the dataset of run {run.name} ships no verified negatives (a folder with "
                "valid_negatives and test_negatives); name a file of false triples, or take "
                "closed-world"
            )
        return found
    for name in names:
        if name in KINDS or not Path(name).is_file():
            raise KgdashError(
                f"expected {' or '.join(KINDS)}, or files of false triples; found {name!r}"
            )
    return np.concatenate([read_graph_triples(Path(name), run.graph) for name in names])


@reads
def _read(
    path: Path, graph: KnowledgeGraph, content: bytes | None
) -> tuple[np.ndarray, dict[str, int]]:
    if content is None and not path.is_file():
        raise KgdashError(f"no file of negatives {path}")
    rows = read_triples(path, content)
    if not len(rows):
        raise KgdashError(f"{path.name} holds no triples; expected rows of head, relation, tail")
    find = (graph.entity_lookup, graph.relation_lookup, graph.entity_lookup)
    resolved = array("q")
    for row in rows:
        called = [look.exactly(name) for look, name in zip(find, row, strict=True)]
        if all(called):
            resolved.extend(
                ids[0] if len(ids) == 1 else look.find(name)  # which names those of one label
                for look, name, ids in zip(find, row, called, strict=True)
            )
    ids = np.array(resolved).reshape(-1, 3)
    known = graph.known().contains(ids)
    distinct = distinct_rows(ids[~known]).rows
    left_out = {
        "left out, as the graph has no such entity or relation": len(rows) - len(ids),
        "left out, as known to be true": int(known.sum()),
        "repeated, counted once": int((~known).sum()) - len(distinct),
    }
    if not len(distinct):
        why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
        raise KgdashError(
            f"{path.name} gives no false triple of graph {graph.name}: {why}. Expected rows of "
            "head, relation, tail by the graph's names or labels"
        )
    return distinct, left_out
