"""Rules applied to the train graph: their predictions as labelled instances.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.bounds import written_once
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.progress import Beat, Progress, silent
from kgdash.studies.instances.instances import (
    TRIPLE_COLUMNS,
    Instances,
    make_instances,
    tail_question,
)
from kgdash.studies.rules.body_matrix import Body
from kgdash.studies.rules.directed_edges import DirectedEdges
from kgdash.studies.rules.groundings import groundings
from kgdash.studies.rules.labels import FALSE, TRUE, UNLABELLED, Labels
from kgdash.studies.rules.rule import Rule, rule_text

_CLOSED_WORLD = (
    "true: in valid or test; false: no known triple (closed world: facts that nobody wrote down "
    "count as false too)"
)
_VERIFIED = "true: in valid or test; false: verified by people; others are left out"


@dataclass(frozen=True)
class PredictionSampling:
    """Which predictions of a rule are kept, and how many of their groundings; random choices.

    ``per_rule``: most predictions of a rule per label, None for all. ``max_groundings``: most of a
    prediction. ``balanced``: as many true as false ones per rule; a rule with predictions of one
    label only is then left out. ``seed``: same seed, same choice.

    :raises KgdashError: if a number is below 1
    """

    per_rule: int | None = 50
    max_groundings: int = 10
    balanced: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.max_groundings, 1 if self.per_rule is None else self.per_rule) < 1:
            raise KgdashError(
                "expected at least one instance per rule and one grounding per instance"
            )


def rule_instances(
    graph: KnowledgeGraph,
    rules: Sequence[Rule],
    sampling: PredictionSampling = PredictionSampling(),
    negatives: np.ndarray | None = None,
    max_rules: int | None = None,
    progress: Progress = silent,
) -> Instances:
    """Label the predictions of rules: what they say of the train graph that is not in it.

    A prediction is true if it is in valid ∪ test. Without ``negatives`` every other one is false:
    the closed-world reading, under which a fact that nobody wrote down counts as false. With
    ``negatives``, triples that people found to be false, only those are false and the remaining
    predictions are left out. A grounding is one of the body, on train, with the head triple; true
    predictions often have more groundings than false ones, and the greatest of many values is
    larger than that of few, so that the mean over them is the more cautious value.

    :param graph: bodies are read on train
    :param negatives: int64 ids, shape ``(n, 3)``; those that are facts are ignored
    :param max_rules: stop when so many rules have instances; None for all
    :return: groups are the rules, as `rule_text` writes them; ``notes`` count those left out
    :raises KgdashError: if train is empty
    """
    applied = _AppliedRules(graph, Labels.of(graph, negatives, closed_world=True), sampling)
    rules = list(dict.fromkeys(rules))
    kept_rules = one_sided = nothing_new = 0
    for number, rule in enumerate(rules):
        if kept_rules == max_rules:
            rules = rules[:number]
            break
        beat = partial(progress, number, len(rules))
        predictions = applied.predict(rule, number, (TRUE, FALSE), beat)
        nothing_new += not len(predictions.labels)
        if sampling.balanced:
            balanced = predictions.balanced()
            one_sided += len(predictions.labels) > 0 and not len(balanced.labels)
            predictions = balanced
        applied.add(predictions, beat)
        kept_rules += len(predictions.labels) > 0
        progress(number + 1, len(rules))
    progress(1, 1)
    notes = [_CLOSED_WORLD if negatives is None else _VERIFIED]
    for count, why in (
        (one_sided, "predictions of one label only"),
        (nothing_new, "no labelled prediction outside train"),
    ):
        if count:
            notes.append(f"{count} of {len(rules)} rules tried are left out: {why}")
    return make_instances(*applied.tables(), notes)


@dataclass(frozen=True)
class Predictions:
    """What rules predict and nobody has judged, for people to label.

    ``triples``: one row per triple of each grounding: ``group`` (the rule), ``instance`` (int64,
    unique over all groups), ``grounding`` (int64), ``head, relation, tail`` (int64 ids),
    ``is_answer_triple`` (bool: the prediction itself). ``table``: one row per instance, by its
    number: ``instance, group, head, relation, tail`` (ids of the prediction), ``question, answer``
    (str, in labels), ``groundings`` (int64). ``notes`` say what was left out of a file of rules.
    """

    triples: pd.DataFrame
    table: pd.DataFrame
    notes: tuple[str, ...] = ()


def unlabelled_predictions(
    graph: KnowledgeGraph,
    rules: Sequence[Rule],
    sampling: PredictionSampling = PredictionSampling(),
    negatives: np.ndarray | None = None,
    progress: Progress = silent,
) -> Predictions:
    """Find predictions of rules that are no fact and no verified negative.

    A triple that several rules predict comes once per rule.

    :param graph: bodies are read on train; facts are those of all splits
    :param negatives: triples known to be false: int64 ids, shape ``(n, 3)``
    :raises KgdashError: if train is empty
    """
    applied = _AppliedRules(graph, Labels.of(graph, negatives), sampling)
    rules = list(dict.fromkeys(rules))
    for number, rule in enumerate(rules):
        beat = partial(progress, number, len(rules))
        applied.add(applied.predict(rule, number, (UNLABELLED,), beat), beat)
        progress(number + 1, len(rules))
    rows, described = applied.tables()
    rows = rows.sort_values(["instance", "grounding"], kind="stable").reset_index(drop=True)
    heads = rows[rows["is_answer_triple"]].drop_duplicates("instance")
    table = heads[["instance", "group", *IDS]].merge(described, on="instance")
    counts = rows.groupby("instance")["grounding"].nunique()
    table["groundings"] = table["instance"].map(counts).astype(np.int64)
    return Predictions(rows.drop(columns="label"), table)


@dataclass(frozen=True)
class _RulePredictions:
    """Predictions of a rule: int64 ``(n, 3)``, their labels ``(n,)``, and its random numbers."""

    rule: Rule
    body: Body
    triples: np.ndarray
    labels: np.ndarray
    rng: np.random.Generator

    def balanced(self) -> _RulePredictions:
        """Return as many true as false ones, a random choice."""
        either = [np.flatnonzero(self.labels == which) for which in (TRUE, FALSE)]
        fewest = min(map(len, either))
        kept = np.sort(np.concatenate([self.rng.permutation(at)[:fewest] for at in either]))
        return _RulePredictions(
            self.rule, self.body, self.triples[kept], self.labels[kept], self.rng
        )


class _AppliedRules:
    """Rules at work on a train graph; gathers the instances that come out of it."""

    def __init__(self, graph: KnowledgeGraph, labels: Labels, sampling: PredictionSampling) -> None:
        self.graph, self.labels, self.sampling = graph, labels, sampling
        self.edges = DirectedEdges.of(graph.split("train"), graph.num_entities, graph.num_relations)
        self.train = graph.known(("train",))
        self._rows: list[pd.DataFrame] = []
        self._described: list[tuple[int, str, str]] = []
        # Each once, as rules are: of long names, a text for every instance would take gigabytes.
        self._question = written_once(partial(tail_question, graph), "the questions of these rules")
        answer = graph.entity_lookup.distinct_label
        self._answer = written_once(answer, "the answers of these rules")

    def predict(
        self, rule: Rule, number: int, wanted: Sequence[int], beat: Beat
    ) -> _RulePredictions:
        """Return predictions with certain labels, at most ``per_rule`` of each, sorted.

        :param beat: called now and then; may raise to end it
        """
        rng, per_rule = np.random.default_rng([self.sampling.seed, number]), self.sampling.per_rule
        body = Body.of(rule, self.edges)
        triples, labels, keys = np.empty((0, 3), np.int64), np.empty(0, np.int8), np.empty(0)
        for block in body.head_triples():
            beat()
            new = block[~self.train.contains(block)]
            label = self.labels.of_triples(new)
            good = np.isin(label, wanted)
            triples = np.concatenate([triples, new[good]])
            labels = np.concatenate([labels, label[good]])
            keys = np.concatenate([keys, rng.random(good.sum())])
            if per_rule is not None:
                kept = _lowest(labels, keys, per_rule)
                triples, labels, keys = triples[kept], labels[kept], keys[kept]
        order = np.lexsort((triples[:, 2], triples[:, 0]))
        return _RulePredictions(rule, body, triples[order], labels[order], rng)

    def add(self, of: _RulePredictions, beat: Beat) -> None:
        """Add the groundings of predictions."""
        rows = groundings(of.body, of.triples, self.sampling.max_groundings, of.rng, beat)
        before = len(self._described)
        rows["label"] = of.labels[rows["instance"]] == TRUE
        rule = rule_text(of.rule, self.graph)
        rows["group"] = pd.Series([rule] * len(rows), rows.index, dtype=object)
        rows["instance"] += before
        self._rows.append(rows)
        self._described.extend(
            (before + i, self._question(h, r), self._answer(t))
            for i, (h, r, t) in enumerate(of.triples.tolist())
        )

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows of all instances, and question and answer of each."""
        columns = [column for column in TRIPLE_COLUMNS if column != "predicted_side"]
        rows = pd.concat(self._rows) if self._rows else pd.DataFrame(columns=columns)
        described = pd.DataFrame(
            self._described, columns=["instance", "question", "answer"], dtype=object
        ).astype({"instance": np.int64})
        types = {"is_answer_triple": bool, "label": bool, "group": object}
        return rows[columns].astype(types), described


def _lowest(labels: np.ndarray, keys: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of the lowest keys of each label, ascending."""
    order = np.lexsort((keys, labels))
    place = np.arange(len(order)) - np.searchsorted(labels[order], labels[order])
    return np.sort(order[place < most])
