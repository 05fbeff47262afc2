"""Positive against negative: instances labelled true or false, and what a model makes of them.

An instance is a question with an answer that holds or does not: a query's answer
(numbers.md#8-queries) or a rule's prediction (numbers.md#9-rules). It comes with its groundings,
the sets of triples that lead to it: of a query its paths, of a rule its body with values for the
variables. Queries, mined rules and a user's own table all end up in this one noun, so that scoring,
separation and charts know only it (numbers.md#11-instances-true-and-false).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.arrow_texts import texts_at
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, phases, silent
from kgdash.scoring.triple_scores import triple_scores
from kgdash.statistics.rounding import rounded

if TYPE_CHECKING:
    from kgdash.runs import Run

TRIPLE_COLUMNS = [
    *("group", "instance", "grounding", "label", "head", "relation", "tail"),
    *("is_answer_triple", "predicted_side"),
]
INSTANCE_COLUMNS = ["instance", "group", "label", "question", "answer", "groundings"]

_GROUNDING = ["instance", "grounding"]

#: what a grounding is measured by -> (column per triple, only over those that give the answer)
MEASURES = {
    "relik": ("relik", False),
    "relik_answer": ("relik", True),
    "reciprocal_rank": ("reciprocal_rank", False),
    "reciprocal_rank_answer": ("reciprocal_rank", True),
    "score": ("score", False),
    "score_answer": ("score", True),
}

#: how the values of an instance's groundings become one
AGGREGATES = ("max", "mean")


@dataclass(frozen=True)
class Instances:
    """Labelled instances, as two tables.

    ``triples``: one row per triple of each grounding, sorted by instance and grounding: ``group``
    (str: query type or rule), ``instance`` (int64, unique over all groups), ``grounding`` (int64,
    from 0 within its instance), ``label`` (bool), ``head, relation, tail`` (int64 ids),
    ``is_answer_triple`` (bool: the triple gives the answer: a rule's head, a path query's last
    triple, and every triple of an intersection query, whose branches all end in the answer),
    ``predicted_side`` ("tail" or "head": which entity of the triple is searched, "head" where its
    relation is followed backwards).

    ``table``: one row per instance, sorted by it: ``instance``, ``group``, ``label``, ``question``
    and ``answer`` (str, in labels that tell apart all), ``groundings`` (int64, ≥ 1).

    ``notes`` says what a reader should know of how they came about, e.g. what fell short.
    """

    triples: pd.DataFrame
    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the promises above.

        :raises KgdashError: if one does not hold
        """
        for name, frame, columns in (
            ("triples", self.triples, TRIPLE_COLUMNS),
            ("table", self.table, INSTANCE_COLUMNS),
        ):
            if list(frame.columns) != columns:
                raise KgdashError(
                    f"expected columns {', '.join(columns)} in the {name} of the instances; "
                    f"found {', '.join(map(str, frame.columns))}"
                )
        per_instance = self.triples.groupby("instance")[["group", "label"]]
        mixed = per_instance.nunique().ne(1).any(axis=1)
        if mixed.any():
            raise KgdashError(
                f"instance {mixed.idxmax()} has several groups or labels; "
                "expected one group and one label, true or false, on all its triples"
            )
        if not self.triples.groupby(_GROUNDING)["is_answer_triple"].any().all():
            raise KgdashError(
                "expected a triple that gives the answer (is_answer_triple) in every grounding"
            )
        if not np.array_equal(self.table["instance"], self.triples["instance"].unique()):
            raise KgdashError("expected the same instances, in order, in both tables")

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self.table)

    def counts(self) -> pd.DataFrame:
        """Count per group, as they appear: ``group, n_true, n_false, groundings`` (int64)."""
        by_group = self.table.groupby("group", sort=False)
        counted = by_group.agg(
            n_true=("label", "sum"), n=("label", "size"), groundings=("groundings", "sum")
        )
        counted.insert(1, "n_false", counted["n"] - counted["n_true"])
        return counted.drop(columns="n").astype(np.int64).reset_index()


@dataclass(frozen=True)
class ScoredInstances:
    """Instances with what a model makes of them.

    ``triples``: as in `Instances`, plus ``relik``, ``entity_rr`` (of the predicted side),
    ``relation_rr``, ``reciprocal_rank`` (float64, in (0, 1]) and ``score`` (float64, the model's
    own; not comparable between relations). ``table``: as in `Instances`, plus ``{measure}_max``
    and ``{measure}_mean`` (float64; in (0, 1] but for scores) for each of `MEASURES`; and of how
    many different sets of triples these are the greatest or the mean (int64, ≥ 1): ``distinct``,
    and ``distinct_answer`` of the triples alone that give the answer, which groundings often share.
    """

    triples: pd.DataFrame
    table: pd.DataFrame


def tail_question(graph: KnowledgeGraph, head: int, relation: int) -> str:
    """Write which tail is asked for, in labels that tell apart all heads and all relations."""
    asked = graph.relation_lookup.distinct_label(relation)
    return f"{asked}({graph.entity_lookup.distinct_label(head)}, ?)"


def make_instances(
    triples: pd.DataFrame, described: pd.DataFrame, notes: Sequence[str] = ()
) -> Instances:
    """Bring rows in any order into the shape that `Instances` promises.

    A grounding is a set of triples (numbers.md#8-queries): one that occurs twice in it is kept
    once, at its last place.

    :param triples: `TRIPLE_COLUMNS`, ``predicted_side`` may be absent ("tail" throughout) and
        others may be there; instances and groundings are numbered anew, in order
    :param described: ``instance, question, answer`` for each instance
    :param notes: for `Instances.notes`
    :raises KgdashError: if the rows can not be instances
    """
    numbers = dict.fromkeys([*_GROUNDING, *IDS], np.int64)
    if "predicted_side" not in triples:
        triples = triples.assign(predicted_side="tail")
    rows = triples.reset_index(drop=True).astype(
        {"label": bool, "is_answer_triple": bool} | numbers
    )
    rows = rows.sort_values(_GROUNDING, kind="stable")
    rows["is_answer_triple"] = rows.groupby([*_GROUNDING, *IDS])["is_answer_triple"].transform(
        "any"
    )
    rows = rows.drop_duplicates([*_GROUNDING, *IDS], keep="last")
    table = rows.drop_duplicates("instance")[["instance", "group", "label"]]
    described = described.astype({"instance": np.int64, "question": object, "answer": object})
    table = table.merge(described, on="instance", how="left", validate="one_to_one")
    table["groundings"] = rows.groupby("instance")["grounding"].nunique().to_numpy()
    table["instance"] = np.arange(len(table))
    rows["grounding"] = (
        rows.groupby("instance")["grounding"].rank(method="dense").astype(np.int64) - 1
    )
    rows["instance"] = rows.groupby("instance").ngroup()
    return Instances(
        rows[TRIPLE_COLUMNS].reset_index(drop=True),
        table[INSTANCE_COLUMNS].astype({"groundings": np.int64}),
        tuple(notes),
    )


def score_instances(
    run: Run, instances: Instances, progress: Progress = silent, method: str = "exact"
) -> ScoredInstances:
    """Measure the triples of all instances, each distinct triple once, and sum up per instance.

    Of a triple: ReliK (numbers.md#4-relik), the model's score, and the reciprocal rank ½ (1/entity
    rank + 1/relation rank), both ranks filtered by all known triples and realistic; the entity is
    the tail, or the head where the relation is followed backwards. Of a grounding: the mean over
    its triples, and over those alone that give the answer (``…_answer``). Of an instance: the
    greatest of its groundings and their mean (numbers.md#11-instances-true-and-false).

    :param run: asked for ReliK, ranks and scores
    :param method: of ReliK, see `kgdash.runs.Run.relik`
    :raises KgdashError: if there are no instances, or the model's scores are NaN
    """
    if not len(instances):
        raise KgdashError(
            "there are no instances to score" + "".join(f"; {note}" for note in instances.notes)
        )
    rows = instances.triples
    distinct, _, of, _ = distinct_rows(rows[IDS].to_numpy())
    first, second = phases(progress, [1.0, 1.0])
    relik = run.relik(triples=distinct, method=method, progress=first)["relik"].to_numpy()
    backwards = (rows["predicted_side"] == "head").to_numpy()
    # A false answer is no known triple: it must not leave the candidates of the true ones.
    ranks = run.ranks_of_mixed(
        distinct,
        sides=("tail", "relation", *(["head"] if backwards.any() else [])),
        progress=second,
    )
    tail_rr, relation_rr, *head_rr = 1.0 / ranks["realistic"].to_numpy().reshape(-1, len(distinct))
    entity_rr = np.where(backwards, head_rr[0][of], tail_rr[of]) if head_rr else tail_rr[of]
    scored = rows.assign(
        relik=relik[of],
        entity_rr=entity_rr,
        relation_rr=relation_rr[of],
        reciprocal_rank=0.5 * (entity_rr + relation_rr[of]),
        score=triple_scores(run.scorer, distinct)[of],
    )
    summed = _per_instance(scored).join(_distinct_sets(rows, of))
    return ScoredInstances(scored, instances.table.join(summed, on="instance"))


def _distinct_sets(rows: pd.DataFrame, of: np.ndarray) -> pd.DataFrame:
    """Count the different sets of triples among an instance's groundings, by instance.

    A set is known by the sum of a random number of 64 bits for each of its triples.

    :param rows: the ``triples`` of `Instances`
    :param of: a number for each row, equal where triples are, ≥ 0
    """
    keys = np.random.default_rng(0).integers(2**64, size=of.max() + 1, dtype=np.uint64)[of]
    columns = {}
    for name, kept in (
        ("distinct", np.ones(len(rows), dtype=bool)),
        ("distinct_answer", rows["is_answer_triple"].to_numpy()),
    ):
        instance, grounding = (rows[column].to_numpy()[kept] for column in _GROUNDING)
        new = np.diff(instance, prepend=-1).astype(bool) | np.diff(grounding, prepend=-1).astype(
            bool
        )
        first = np.flatnonzero(new)
        sums = pd.Series(np.add.reduceat(keys[kept], first), index=instance[first])
        columns[name] = sums.groupby(level=0).nunique()
    return pd.DataFrame(columns)


def _per_instance(scored: pd.DataFrame) -> pd.DataFrame:
    columns = {}
    for measure, (column, only_head) in MEASURES.items():
        rows = scored[scored["is_answer_triple"]] if only_head else scored
        of_grounding = rows.groupby(_GROUNDING)[column].mean().groupby("instance")
        columns[f"{measure}_max"] = of_grounding.max()
        columns[f"{measure}_mean"] = of_grounding.mean()
    return pd.DataFrame(columns).apply(rounded, raw=True)


def instance_triples(graph: KnowledgeGraph, triples: pd.DataFrame, instance: int) -> pd.DataFrame:
    """Return the triples of one instance for people to read.

    :param triples: the ``triples`` of `Instances` or of `ScoredInstances`
    :param instance: its number
    :return: ``grounding`` (int64), ``head``, ``relation``, ``tail`` (labels), ``is_answer_triple``
        (bool), ``split`` ("train", "valid", "test", or "none" for what is not a fact), and the
        measures where ``triples`` has them
    :raises KgdashError: if there is no such instance
    """
    rows = triples[triples["instance"] == instance]
    if rows.empty:
        count = triples["instance"].nunique()
        raise KgdashError(f"no instance {instance}; expected a number from 0 to {count - 1}")
    ids = rows[IDS].to_numpy()
    names = (graph.entity_labels, graph.relation_labels, graph.entity_labels)
    labels = [texts_at(n, i) for n, i in zip(names, ids.T, strict=True)]
    read = rows[["grounding"]].assign(
        **dict(zip(IDS, labels, strict=True)), is_answer_triple=rows["is_answer_triple"]
    )
    read["split"] = graph.split_of(ids)
    values = [column for column in rows.columns if column not in TRIPLE_COLUMNS]
    return read.join(rows[values]).reset_index(drop=True)
