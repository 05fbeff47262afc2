"""Predictions of rules that nobody has judged yet, in the order in which to show them to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.graph import IDS, KnowledgeGraph, triple_text
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, silent
from kgdash.studies.instances.instances import instance_triples
from kgdash.studies.labelling.events import NamedTriple, RuleGroundings
from kgdash.studies.rules.predictions import Predictions

if TYPE_CHECKING:
    from kgdash.runs import Run

#: orders to judge in. Only the first keeps what is judged a fair sample of the predictions.
ORDERS = ("random", "by rule", "least reliable first", "most reliable first")

#: rows that predict one triple which are shown and kept with its label: a table handed in may have
#: any number of instances of a rule; and ways on which all of them may hold that are kept with it,
#: their triples, and the characters of these
_MOST, _KEPT, _TRIPLES, _LETTERS = 200, 1_000, 10_000, 2**20


@dataclass(frozen=True)
class LabelQueue:
    """Predictions to judge, each triple once, and why they were predicted.

    ``order``: the triples, by name. ``triples`` and ``table``: as in
    `kgdash.studies.rules.predictions.Predictions`, with ``relik`` (float64, in (0, 1]) of each
    triple and of each instance: the mean over the triples of a grounding, the greatest of them
    (numbers.md#9-rules).
    """

    graph: KnowledgeGraph
    order: tuple[NamedTriple, ...]
    triples: pd.DataFrame
    table: pd.DataFrame

    def instances_of(self, triple: NamedTriple) -> pd.DataFrame:
        """Return the rows of ``table`` that predict a triple, one per rule, at most `_MOST`."""
        ids = dict(zip(IDS, triple_ids(triple, self.graph), strict=True))
        found = np.logical_and.reduce([self.table[c] == i for c, i in ids.items()])
        return self.table[found].head(_MOST)

    def of(self, triple: NamedTriple) -> LabelQueue:
        """Return the queue of one of its triples alone, without what was made of the others."""
        table = self.instances_of(triple)
        triples = self.triples[self.triples["instance"].isin(table["instance"])]
        return LabelQueue(self.graph, (triple,), triples, table)

    def shown(self, instance: int) -> pd.DataFrame:
        """Return the triples of an instance for people to read, as `instance_triples` does."""
        return instance_triples(self.graph, self.triples, instance)

    def groundings(self, triple: NamedTriple) -> tuple[RuleGroundings, ...]:
        """Return why a triple is predicted, to be kept with its label: on `_KEPT` ways together.

        :raises KgdashError: if they are more triples, or of longer names, than what is kept
        """
        found = []
        instances = self.instances_of(triple)[["instance", "group"]].to_numpy()
        most, triples, letters = _KEPT // max(len(instances), 1), 0, 0
        for instance, rule in instances:
            rows = self.triples[
                (self.triples["instance"] == instance)
                & ~self.triples["is_answer_triple"]
                & (self.triples["grounding"] < most)
            ]
            triples += len(rows)
            letters += len(str(rule)) + self._letters(rows[IDS].to_numpy())
            if triples > _TRIPLES or letters > _LETTERS:
                raise KgdashError(
                    f"{in_labels(triple, self.graph):.100} is predicted by {triples:,} triples or "
                    f"more, of {letters:,} characters; with a label {_TRIPLES:,} of {_LETTERS:,} "
                    "are kept at most: judge it by fewer rules, or skip it"
                )
            bodies = [
                tuple(named_triple(row, self.graph) for row in body[IDS].to_numpy())
                for _, body in rows.groupby("grounding")
            ]
            found.append(RuleGroundings(str(rule), tuple(bodies)))
        return tuple(found)

    def _letters(self, triples: np.ndarray) -> int:
        ids, counts = np.unique(triples[:, [0, 2]], return_counts=True)
        ends = zip(ids.tolist(), counts.tolist(), strict=True)
        relations = map(len, map(self.graph.relations.__getitem__, triples[:, 1].tolist()))
        return sum(len(self.graph.entities[i]) * count for i, count in ends) + sum(relations)


def label_queue(
    run: Run,
    predictions: Predictions,
    order: str = ORDERS[0],
    seed: int = 0,
    progress: Progress = silent,
) -> LabelQueue:
    """Put predictions into an order and measure the ReliK of what is shown with them.

    :param run: asked for ReliK
    :param order: one of `ORDERS`; "by rule" is that of the predictions
    :raises KgdashError: if there is no prediction, or no such order
    """
    check_name("order", order, ORDERS, "kgdash")
    if predictions.table.empty:
        raise KgdashError(
            "there is no prediction to judge: the rules predict nothing but facts; take more rules "
            "or a lower PCA confidence"
        )
    distinct, _, of, _ = distinct_rows(predictions.triples[IDS].to_numpy())
    relik = run.relik(triples=distinct, progress=progress)["relik"].to_numpy()
    grounding = predictions.triples.groupby("instance")["grounding"].rank(method="dense")
    triples = predictions.triples.assign(grounding=grounding.astype(np.int64) - 1, relik=relik[of])
    of_grounding = triples.groupby(["instance", "grounding"])["relik"].mean()
    best = of_grounding.groupby("instance").max()
    table = predictions.table.assign(relik=predictions.table["instance"].map(best))
    listed = table.groupby(IDS, sort=False, as_index=False)["relik"].max()
    if order == "random":
        listed = listed.iloc[np.random.default_rng(seed).permutation(len(listed))]
    elif order != "by rule":
        first = order == "most reliable first"
        listed = listed.sort_values("relik", ascending=not first, kind="stable")
    named = tuple(named_triple(row, run.graph) for row in listed[IDS].to_numpy())
    return LabelQueue(run.graph, named, triples, table)


def named_triple(ids: Sequence[int] | np.ndarray, graph: KnowledgeGraph) -> NamedTriple:
    """Return a triple's names."""
    head, relation, tail = (int(number) for number in ids)
    return graph.entities[head], graph.relations[relation], graph.entities[tail]


def triple_ids(triple: NamedTriple, graph: KnowledgeGraph) -> tuple[int, int, int]:
    """Return a triple's ids.

    :raises KgdashError: if the graph does not have a name
    """
    head, relation, tail = triple
    return graph.entity_id(head), graph.relation_id(relation), graph.entity_id(tail)


def in_labels(triple: NamedTriple, graph: KnowledgeGraph) -> str:
    """Write a triple in labels for people to read: ``head — relation → tail``."""
    head, relation, tail = triple_ids(triple, graph)
    labels = graph.entity_labels
    return triple_text(labels[head], graph.relation_labels[relation], labels[tail])
