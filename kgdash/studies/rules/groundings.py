"""The groundings of a rule's predictions: values of its body's variables that hold on the facts."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.graph.sorted_slices import expand_slices
from kgdash.progress import Beat, unheard
from kgdash.studies.rules.body_matrix import Body, Leaf

#: rows that a join of one block may have
_BLOCK_ROWS = 4_000_000

#: values of a leaf that are written out for one instance at most
_WRITTEN_OUT = 200_000

_Values = dict[str, np.ndarray]


def groundings(
    body: Body,
    triples: np.ndarray,
    most: int,
    rng: np.random.Generator,
    beat: Beat = unheard,
) -> pd.DataFrame:
    """Ground predictions: the triples of the body, then the head triple.

    Where a prediction has more than ``most`` groundings, those kept are a random choice: first of
    the values that join the head's variables, then of those that hang on one variable alone.

    :param body: a rule's body on the facts
    :param triples: predictions of that rule: int64, shape ``(n, 3)``
    :param most: groundings kept per prediction, ≥ 1
    :param beat: called now and then; may raise to end it
    :return: one row per triple: ``instance`` (position in ``triples``), ``grounding`` (unique over
        all instances), ``head, relation, tail`` (int64 ids), ``is_answer_triple`` (bool)
    """
    found = []
    for block in _blocks(body, triples, most):
        beat()
        found.append(_ground(body, triples, block, most, rng))
    names = found[0].keys() if found else ()
    values = {name: np.concatenate([part[name] for part in found]) for name in names}
    if not found:
        values = dict.fromkeys(["instance", body.start, *_joined(body)], np.empty(0, np.int64))
    count = len(values["instance"])
    parts = [
        pd.DataFrame(
            {
                "instance": values["instance"],
                "grounding": np.arange(count),
                "head": values[x] if isinstance(x, str) else np.full(count, x),
                "relation": relation,
                "tail": values[y] if isinstance(y, str) else np.full(count, y),
                "is_answer_triple": place == len(body.rule.body),
            }
        )
        for place, (relation, x, y) in enumerate(body.rule.atoms)
    ]
    return pd.concat(parts, ignore_index=True)


def _joined(body: Body) -> list[str]:
    return [body.end, *body.inner, *(leaf.variable for leaf in body.leaves)]


def _blocks(body: Body, triples: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Cut the predictions so that no join exceeds the limit by more than one of them."""
    start = _column(body, body.start, triples)
    cost = np.full(len(triples), 1.0)
    for length in range(1, len(body.inner) + 1):
        paths = np.ones(len(body.allowed))
        for matrix in reversed(body.way[:length]):
            paths = matrix @ paths
        cost = np.maximum(cost, paths[start])
    for leaf in body.leaves:
        widest = float(most) * np.diff(leaf.matrix.indptr).max(initial=1)
        cost = np.maximum(cost, min(widest, _WRITTEN_OUT))
    place = np.cumsum(cost) // _BLOCK_ROWS
    if len(triples):
        yield from np.split(np.arange(len(triples)), np.flatnonzero(np.diff(place)) + 1)


def _ground(
    body: Body, triples: np.ndarray, block: np.ndarray, most: int, rng: np.random.Generator
) -> _Values:
    values: _Values = {"instance": block}
    for variable in (body.start, body.end):
        values[variable] = _column(body, variable, triples[block])
    stops = (body.start, *body.inner)
    for stem, variable, matrix in zip(stops, body.inner, body.way, strict=False):
        values = _expanded(values, stem, variable, matrix)
    # SciPy gives no array for no pairs.
    if body.inner and len(values["instance"]):
        holds = body.way[-1][values[body.inner[-1]], values[body.end]]
        values = {name: column[holds] for name, column in values.items()}
    values = _capped(values, most, rng)
    for leaf in body.leaves:
        values = _with_leaf(values, leaf, most, rng)
    return values


def _with_leaf(values: _Values, leaf: Leaf, most: int, rng: np.random.Generator) -> _Values:
    """Join the values of a leaf, at most ``most`` rows per instance, a random choice.

    Where an instance would have very many they are drawn without writing them all out.
    """
    owner = values["instance"]
    first = leaf.matrix.indptr[values[leaf.stem]].astype(np.int64)
    degree = leaf.matrix.indptr[values[leaf.stem] + 1] - first
    few = np.bincount(owner, degree)[owner] <= _WRITTEN_OUT
    written = {name: column[few] for name, column in values.items()}
    parts = [_capped(_expanded(written, leaf.stem, leaf.variable, leaf.matrix), most, rng)]
    for instance in np.unique(owner[~few]):
        rows = np.flatnonzero(owner == instance)
        stops = np.cumsum(degree[rows])
        drawn = np.sort(rng.choice(stops[-1], min(most, stops[-1]), replace=False))
        at = np.searchsorted(stops, drawn, side="right")
        part = {name: column[rows[at]] for name, column in values.items()}
        place = first[rows[at]] + drawn - (stops - degree[rows])[at]
        parts.append(part | {leaf.variable: leaf.matrix.indices[place].astype(np.int64)})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(joined["instance"], kind="stable")
    return {name: column[order] for name, column in joined.items()}


def _column(body: Body, variable: str, triples: np.ndarray) -> np.ndarray:
    """Return the values of one of the head's variables."""
    return triples[:, 0 if body.rule.head[1] == variable else 2]


def _expanded(values: _Values, stem: str, variable: str, matrix: sparse.csr_array) -> _Values:
    """Join all values of a further variable, by their matrix with one that has values."""
    first, last = (matrix.indptr[values[stem] + add].astype(np.int64) for add in (0, 1))
    row, place = expand_slices(first, last - first)
    joined = {name: column[row] for name, column in values.items()}
    joined[variable] = matrix.indices[place].astype(np.int64)
    return joined


def _capped(values: _Values, most: int, rng: np.random.Generator) -> _Values:
    """Keep at most ``most`` rows per instance (ascending), a random choice in the given order."""
    owner = values["instance"]
    order = np.lexsort((rng.random(len(owner)), owner))
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    kept = np.sort(order[place < most])
    return {name: column[kept] for name, column in values.items()}
