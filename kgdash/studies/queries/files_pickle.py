"""Folders of queries as Query2box and BetaE publish them: pickles of plain containers.

Defined in numbers.md#8-queries.

Query2box has per type T ``test_ans_T.pkl`` (query → all answers) and ``test_ans_T_hard.pkl`` (query
→ hard answers), with ``ind2ent.pkl`` and ``ind2rel.pkl``; ``test_triples_T.pkl`` says nothing more
and is not read. BetaE has ``test-queries.pkl`` (structure → queries), ``test-easy-answers.pkl`` and
``test-hard-answers.pkl`` (query → answers), with ``id2ent.pkl`` and ``id2rel.pkl``. Likewise for
valid; BetaE's answers of train, ``train-answers.pkl``, are all easy.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError, check_name
from kgdash.files.text import read_content
from kgdash.formats.pickle_containers import MAX_BYTES, read_plain_pickle
from kgdash.formats.pickle_records import brief
from kgdash.graph import SPLITS
from kgdash.progress import Progress, silent
from kgdash.studies.queries.files_text import QUERY2BOX_TYPES
from kgdash.studies.queries.named_queries import BACKWARDS, WIDTH, NamedQueries
from kgdash.studies.queries.query_types import QUERY_TYPES

#: how BetaE writes the types: "e" an entity, "r" a relation, "u" a union
_STRUCTURES: dict[Any, str] = {
    ("e", ("r",)): "1p",
    ("e", ("r", "r")): "2p",
    ("e", ("r", "r", "r")): "3p",
    (("e", ("r",)), ("e", ("r",))): "2i",
    (("e", ("r",)), ("e", ("r",)), ("e", ("r",))): "3i",
    (("e", ("r", "r")), ("e", ("r",))): "pi",
    ((("e", ("r",)), ("e", ("r",))), ("r",)): "ip",
    (("e", ("r",)), ("e", ("r",)), ("u",)): "2u",
    ((("e", ("r",)), ("e", ("r",)), ("u",)), ("r",)): "up",
}

#: how many times its size a file may unpack to: what it holds takes up to eighty times that
_DENSEST = 4

#: a query of the type at this position in `QUERY_TYPES`: (branch, …), then relations after them
_Query = tuple[int, tuple[tuple[int, tuple[int, ...]], ...], tuple[int, ...]]

#: a query with its easy and its hard answers
_Answered = tuple[_Query, Iterable[int], Iterable[int]]


def read_pickle_folder(
    folder: Path, split: str = "test", progress: Progress = silent
) -> tuple[NamedQueries, list[str]]:
    """Read the queries of a split from a folder in the form of Query2box or BetaE.

    :param split: "test" or "valid", for BetaE also "train"
    :param progress: called with (files read, files)
    :return: the queries, and what was left out
    :raises KgdashError: if files are missing, or one holds anything but what is expected; nothing
        in a file runs
    """
    check_name("split", split, SPLITS, str(folder))
    beta = folder / f"{split}-queries.pkl"
    types = [kind for kind in QUERY2BOX_TYPES if (folder / f"{split}_ans_{kind}.pkl").is_file()]
    if beta.is_file() == bool(types):
        present = ", ".join(sorted(path.name for path in folder.glob("*.pkl"))[:8]) or "no .pkl"
        raise KgdashError(
            f"expected {split}_ans_T.pkl with T out of {', '.join(QUERY2BOX_TYPES)}, as Query2box "
            f"names its files, or {split}-queries.pkl, as BetaE does; found {present} in {folder}"
        )
    if types:
        steps = _Files(folder, 2 + 2 * len(types), progress)
        entities = _vocabulary(steps.mapping("ind2ent.pkl"), "ind2ent.pkl")
        relations = _reversed_names(_vocabulary(steps.mapping("ind2rel.pkl"), "ind2rel.pkl"))
        return _gather(_query2box(steps, types, split), entities, relations, folder), []
    steps = _Files(folder, 5, progress)
    entities = _vocabulary(steps.mapping("id2ent.pkl"), "id2ent.pkl")
    relations = _signed_names(_vocabulary(steps.mapping("id2rel.pkl"), "id2rel.pkl"))
    notes: list[str] = []
    return _gather(_betae(steps, split, notes), entities, relations, folder), notes


class _Files:
    """The files of a folder, read one by one."""

    def __init__(self, folder: Path, total: int, progress: Progress) -> None:
        self.folder, self.total, self.progress, self.done = folder, total, progress, 0
        # A set may stand in a file once and be that of many queries.
        self._answers_left = 0

    def mapping(self, name: str) -> dict:
        """Read a file that must hold a dict."""
        path = self.folder / name
        if not path.exists():
            raise KgdashError(f"no {name} in {self.folder}; it belongs to the published files")
        content = read_content(path, str(path), MAX_BYTES)
        if len(content) > _DENSEST * path.stat().st_size:
            raise KgdashError(
                f"{path} unpacks to more than {_DENSEST} times its size; unpack it first, if that "
                "is what it holds"
            )
        self._answers_left += len(content)
        value = read_plain_pickle(content, str(path))
        if not isinstance(value, dict):
            raise KgdashError(f"expected a dict in {path}; found a {type(value).__name__}")
        self.done += 1
        self.progress(self.done, self.total)
        return value

    def ids(self, answers: Any, where: str) -> set[int]:
        """Return answers, of which all files that were read have no more than bytes."""
        plain = isinstance(answers, set | list | tuple)
        self._answers_left -= len(answers) if plain else 0
        if self._answers_left < 0:
            raise KgdashError(f"queries share their answers in {where}; write each with its own")
        if not plain or not all(type(a) is int and a >= 0 for a in answers):
            raise KgdashError(f"expected sets of entity numbers as answers; found others ({where})")
        return set(answers)


def _query2box(files: _Files, types: list[str], split: str) -> Iterator[_Answered]:
    for name in types:
        kind = QUERY2BOX_TYPES[name]
        every = files.mapping(f"{split}_ans_{name}.pkl")
        hard = files.mapping(f"{split}_ans_{name}_hard.pkl")
        width = len(QUERY_TYPES[kind].branches)
        for query, answers in every.items():
            # What follows the join stands bare behind the branches: (branch, branch, relation).
            cut = (query[:width], query[width:]) if isinstance(query, tuple) else ((), ())
            parsed = _parsed(kind, *cut, query, f"{files.folder}/{split}_ans_{name}.pkl")
            later = files.ids(hard.get(query, ()), f"{files.folder}/{split}_ans_{name}_hard.pkl")
            known = files.ids(answers, f"{files.folder}/{split}_ans_{name}.pkl")
            yield parsed, known - later, later


def _betae(files: _Files, split: str, notes: list[str]) -> Iterator[_Answered]:
    queries = files.mapping(f"{split}-queries.pkl")
    names = [f"{split}-easy-answers.pkl", f"{split}-hard-answers.pkl"]
    if split == "train":
        names = ["train-answers.pkl"]
    parts = {f"{files.folder}/{name}": files.mapping(name) for name in names}
    where = f"{files.folder}/{split}-queries.pkl"
    strange = KgdashError(f"expected sets of queries by structure; found others ({where})")
    if not all(isinstance(found, set | list) for found in queries.values()):
        raise strange
    other = sum(len(found) for kind, found in queries.items() if kind not in _STRUCTURES)
    if other:
        total = sum(map(len, queries.values()))
        notes.append(f"{other:,} of {total:,} queries left out: with negation, or of other types")
    for structure, found in queries.items():
        kind = _STRUCTURES.get(structure)
        if kind is None:
            continue
        # Not of others: any number of structures may share one set.
        if not all(isinstance(query, tuple) for query in found):
            raise strange
        pairs = [(query, _parsed(kind, *_branches(kind, query), query, where)) for query in found]
        if isinstance(found, set):
            pairs.sort(key=lambda pair: pair[1])  # of two ways to write a query, one is no tuple
        for query, parsed in pairs:
            easy, *hard = (files.ids(part.get(query, ()), place) for place, part in parts.items())
            yield parsed, easy, hard[0] if hard else set()


def _branches(kind: str, query: Any) -> tuple[Any, Any]:
    """Cut a query of BetaE's into branches and what follows the join."""
    if len(QUERY_TYPES[kind].branches) == 1:
        return (query,), ()
    after = ()
    if QUERY_TYPES[kind].after and isinstance(query, tuple) and len(query) == 2:
        query, after = query
    return (query[:-1] if QUERY_TYPES[kind].join == "or" else query), after


def _parsed(kind: str, branches: Any, after: Any, query: Any, where: str) -> _Query:
    """Check that a query has the shape of its type."""
    shape = QUERY_TYPES[kind]
    try:
        hash(query)
        found = tuple((anchor, tuple(relations)) for anchor, relations in branches)
        rest = tuple(relation[0] if isinstance(relation, tuple) else relation for relation in after)
        numbers = [*rest, *chain.from_iterable((anchor, *steps) for anchor, steps in found)]
        lengths = tuple(len(steps) for _, steps in found)
        if (lengths, len(rest)) == (shape.branches, shape.after) and all(
            type(number) is int and number >= 0 for number in numbers
        ):
            return list(QUERY_TYPES).index(kind), found, rest
    except (TypeError, ValueError, IndexError):
        pass
    raise KgdashError(
        f"expected a query of type {kind}, branches of (entity, (relation, …)); found "
        f"{brief(query)} ({where})"
    )


def _gather(
    queries: Iterable[_Answered], entities: list[str], relations: list[str], folder: Path
) -> NamedQueries:
    rows, counts, answers, hard = [], [], [], []
    for (kind, branches, after), easy, later in queries:
        steps = [*chain.from_iterable(steps for _, steps in branches), *after]
        rows.append([kind, *_filled([anchor for anchor, _ in branches]), *_filled(steps)])
        ordered = sorted(easy), sorted(later)
        counts.append(sum(map(len, ordered)))
        answers += [*ordered[0], *ordered[1]]
        hard += [False] * len(ordered[0]) + [True] * len(ordered[1])
    table = np.array(rows, dtype=np.int64).reshape(-1, 1 + 2 * WIDTH)
    numbers = np.array(answers, dtype=np.int64)
    anchors, relation_ids = table[:, 1 : 1 + WIDTH], table[:, 1 + WIDTH :]
    for cells, names, what in (
        (anchors, entities, "entity"),
        (numbers, entities, "entity"),
        (relation_ids, relations, "relation"),
    ):
        if len(cells) and cells.max() >= len(names):
            raise KgdashError(
                f"{what} number {cells.max()} has no name among the {len(names):,} in {folder}"
            )
    return NamedQueries(
        tuple(entities),
        tuple(relations),
        table[:, 0],
        anchors,
        relation_ids,
        np.repeat(np.arange(len(table)), counts),
        numbers,
        np.array(hard, dtype=bool),
        np.zeros(len(table), dtype=np.int64),
        np.zeros(len(numbers), dtype=np.int64),
    )


def _filled(numbers: list[int]) -> list[int]:
    return numbers + [-1] * (WIDTH - len(numbers))


def _vocabulary(names: Mapping, where: str) -> list[str]:
    if set(names) != set(range(len(names))) or not all(isinstance(n, str) for n in names.values()):
        raise KgdashError(f"expected numbers from 0, each with a name, in {where}; found others")
    return [names[number] for number in range(len(names))]


def _reversed_names(names: list[str]) -> list[str]:
    """Mark Query2box's inverse relations, which end in ``_reverse``, as followed backwards."""
    forwards = set(names)
    return [
        BACKWARDS + short
        if (short := name.removesuffix("_reverse")) != name and short in forwards
        else name
        for name in names
    ]


def _signed_names(names: list[str]) -> list[str]:
    """Take BetaE's signs off: ``+`` for a relation, ``-`` for its inverse."""
    if not all(name.startswith(("+", "-")) for name in names):
        return _reversed_names(names)
    return [(BACKWARDS if name[0] == "-" else "") + name[1:] for name in names]
