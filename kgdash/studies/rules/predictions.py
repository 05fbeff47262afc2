"""Rules applied to the train graph: their predictions as labelled instances.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, silent
from kgdash.studies.instances.instances import TRIPLE_COLUMNS, Instances, make_instances
from kgdash.studies.rules.body_matrix import Body
from kgdash.studies.rules.groundings import groundings
from kgdash.studies.rules.labels import FALSE, TRUE, UNLABELLED, Labels
from kgdash.studies.rules.rule import parse_rule
from kgdash.studies.rules.triple_steps import Steps


def rule_instances(
    graph: KnowledgeGraph,
    rules: pd.DataFrame | Sequence[str],
    per_rule: int | None = 50,
    negatives: np.ndarray | None = None,
    balanced: bool = True,
    seed: int = 0,
    max_groundings: int = 10,
    progress: Progress = silent,
    judged: pd.DataFrame | None = None,
    max_rules: int | None = None,
) -> Instances:
    """Label the predictions of rules: what they say of the train graph that is not in it.

    Defined in numbers.md#9-rules.

    A prediction is true if it is in valid ∪ test. Without ``negatives`` every other one is false:
    the closed-world reading, under which a fact that nobody wrote down counts as false. With
    ``negatives``, triples that people found to be false, only those are false and the remaining
    predictions are left out. A grounding is one of the body, on train, with the head triple;
    true predictions often have more groundings than false ones, and the greatest of many values is
    larger than that of few, so that the mean over them is the more cautious value.

    :param graph: bodies are read on train
    :param rules: rules as `parse_rule` reads them, or a table with these in a
        column ``rule``, such as `kgdash.studies.rules.mining.mine_rules` returns
    :param per_rule: most instances of a rule per label, a random choice; None for all
    :param negatives: int64 ids, shape ``(n, 3)``; those that are facts are ignored
    :param balanced: keep as many true as false ones per rule; a rule with predictions of one label
        only is then left out, and counted in ``notes``
    :param seed: same seed, same instances
    :param max_groundings: groundings kept per prediction, a random choice of them
    :param progress: called with (done, total)
    :param judged: a user's own labels, which go before the others: ``head, relation, tail`` (ids)
        and ``label`` (bool)
    :param max_rules: stop when so many rules are kept; None for all
    :return: groups are the rules, as given
    :raises KgdashError: if train is empty, a rule can not be read, or a number is below 1
    """
    labels = Labels.of(graph, negatives, judged, closed_world=True)
    applied = _Applied.to(graph, labels, per_rule, max_groundings, seed)
    texts = list(dict.fromkeys(rules["rule"] if isinstance(rules, pd.DataFrame) else rules))
    kept_rules = one_sided = nothing_new = 0
    for number, text in enumerate(texts):
        if kept_rules == max_rules:
            texts = texts[:number]
            break
        triples, label, rng, body = applied.predictions(text, number, (TRUE, FALSE))
        nothing_new += not len(label)
        if balanced:
            either = [np.flatnonzero(label == which) for which in (TRUE, FALSE)]
            fewest = min(map(len, either))
            one_sided += len(label) > 0 and not fewest
            kept = np.sort(np.concatenate([rng.permutation(at)[:fewest] for at in either]))
            triples, label = triples[kept], label[kept]
        applied.add(text, body, triples, label, rng)
        kept_rules += len(label) > 0
        progress(number + 1, len(texts))
    progress(1, 1)
    notes = [f"false: {'not known (closed world)' if negatives is None else 'verified by people'}"]
    for count, why in (
        (one_sided, "predictions of one label only"),
        (nothing_new, "no labelled prediction outside train"),
    ):
        if count:
            notes.append(f"{count} of {len(texts)} rules tried are left out: {why}")
    rows, described = applied.tables()
    return make_instances(rows, described, notes)


@dataclass(frozen=True)
class Predictions:
    """What rules predict and nobody has judged, for people to label.

    ``triples``: one row per triple of each grounding: ``group`` (the rule), ``instance`` (int64,
    unique over all groups), ``grounding`` (int64), ``head, relation, tail`` (int64 ids),
    ``is_answer_triple`` (bool: the prediction itself). ``table``: one row per instance, by its
    number: ``instance,
    group, head, relation, tail`` (ids of the prediction), ``question, answer`` (str, in labels),
    ``groundings`` (int64). `labelled_predictions` makes `Instances` of them.
    """

    triples: pd.DataFrame
    table: pd.DataFrame


def unlabelled_predictions(
    graph: KnowledgeGraph,
    rules: pd.DataFrame | Sequence[str],
    per_rule: int | None = 20,
    seed: int = 0,
    negatives: np.ndarray | None = None,
    judged: pd.DataFrame | None = None,
    max_groundings: int = 10,
    progress: Progress = silent,
) -> Predictions:
    """Find predictions of rules that are no fact, no verified negative and not judged yet.

    A triple that several rules predict comes once per rule.

    :param graph: bodies are read on train; facts are those of all splits
    :param rules: see `rule_instances`
    :param per_rule: most predictions of a rule, a random choice; None for all
    :param seed: same seed, same predictions
    :param negatives: triples known to be false: int64 ids, shape ``(n, 3)``
    :param judged: triples judged already: ``head, relation, tail`` (ids) and ``label`` (bool)
    :param max_groundings: groundings kept per prediction, a random choice of them
    :param progress: called with (done, total)
    :raises KgdashError: as `rule_instances`
    """
    applied = _Applied.to(
        graph, Labels.of(graph, negatives, judged), per_rule, max_groundings, seed
    )
    texts = list(dict.fromkeys(rules["rule"] if isinstance(rules, pd.DataFrame) else rules))
    for number, text in enumerate(texts):
        triples, label, rng, body = applied.predictions(text, number, (UNLABELLED,))
        applied.add(text, body, triples, label, rng)
        progress(number + 1, len(texts))
    rows, described = applied.tables()
    rows = rows.sort_values(["instance", "grounding"], kind="stable").reset_index(drop=True)
    heads = rows[rows["is_answer_triple"]].drop_duplicates("instance")
    table = heads[["instance", "group", *_IDS]].merge(described, on="instance")
    counts = rows.groupby("instance")["grounding"].nunique()
    table["groundings"] = table["instance"].map(counts).astype(np.int64)
    return Predictions(rows.drop(columns="label"), table)


def labelled_predictions(predictions: Predictions, judged: pd.DataFrame) -> Instances:
    """Make instances of those predictions that someone has judged.

    :param judged: ``head, relation, tail`` (ids) and ``label`` (bool); others than those predicted
        are ignored
    """
    label = judged.drop_duplicates(_IDS, keep="last")[[*_IDS, "label"]]
    table = predictions.table.merge(label, on=_IDS)
    rows = predictions.triples.merge(table[["instance", "label"]], on="instance")
    return make_instances(
        rows, table[["instance", "question", "answer"]], ["labels: given by the user"]
    )


_IDS = ["head", "relation", "tail"]


@dataclass(frozen=True)
class _Applied:
    """Rules at work on a train graph, and the instances that have come out of it so far."""

    graph: KnowledgeGraph
    steps: Steps
    train: KnownTriples
    labels: Labels
    per_rule: int | None
    max_groundings: int
    seed: int
    rows: list[pd.DataFrame]
    described: list[tuple[int, str, str]]

    @classmethod
    def to(
        cls,
        graph: KnowledgeGraph,
        labels: Labels,
        per_rule: int | None,
        max_groundings: int,
        seed: int,
    ) -> _Applied:
        if min(max_groundings, 1 if per_rule is None else per_rule) < 1:
            raise KgdashError(
                "expected at least one instance per rule and one grounding per instance"
            )
        steps = Steps.of(graph.split("train"), graph.num_entities, graph.num_relations)
        train = graph.known(("train",))
        return cls(graph, steps, train, labels, per_rule, max_groundings, seed, [], [])

    def predictions(
        self, text: str, number: int, wanted: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, np.random.Generator, Body]:
        """Return predictions with certain labels, at most ``per_rule`` of each, sorted."""
        rng = np.random.default_rng([self.seed, number])
        body = Body.of(parse_rule(text, self.graph), self.steps)
        triples, labels, keys = np.empty((0, 3), np.int64), np.empty(0, np.int8), np.empty(0)
        for block in body.head_triples():
            new = block[~self.train.contains(block)]
            label = self.labels.of_triples(new)
            good = np.isin(label, wanted)
            triples = np.concatenate([triples, new[good]])
            labels = np.concatenate([labels, label[good]])
            keys = np.concatenate([keys, rng.random(good.sum())])
            if self.per_rule is not None:
                kept = _lowest(labels, keys, self.per_rule)
                triples, labels, keys = triples[kept], labels[kept], keys[kept]
        order = np.lexsort((triples[:, 2], triples[:, 0]))
        return triples[order], labels[order], rng, body

    def add(
        self,
        text: str,
        body: Body,
        triples: np.ndarray,
        labels: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Add the groundings of predictions."""
        found = groundings(body, triples, self.max_groundings, rng)
        found["label"] = labels[found["instance"]] == TRUE
        found["group"] = text
        before = len(self.described)
        found["instance"] += before
        self.rows.append(found)
        entity, relation = self.graph.entity_labels, self.graph.relation_labels
        self.described.extend(
            (before + i, f"{relation[r]}({entity[h]}, ?)", entity[t])
            for i, (h, r, t) in enumerate(triples.tolist())
        )

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows of all instances, and question and answer of each."""
        columns = [column for column in TRIPLE_COLUMNS if column != "predicted_side"]
        rows = pd.concat(self.rows) if self.rows else pd.DataFrame(columns=columns)
        described = pd.DataFrame(self.described, columns=["instance", "question", "answer"])
        return rows[columns].astype(
            {"is_answer_triple": bool, "label": bool, "group": str}
        ), described


def _lowest(labels: np.ndarray, keys: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of the lowest keys of each label, ascending."""
    order = np.lexsort((keys, labels))
    place = np.arange(len(order)) - np.searchsorted(labels[order], labels[order])
    return np.sort(order[place < most])
