"""Rules applied to the train graph: their predictions as labelled instances (§9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph, triple_array
from kgdash.known import KnownTriples
from kgdash.progress import Progress, silent
from kgdash.studies.instances import TRIPLE_COLUMNS, Instances, make_instances
from kgdash.studies.rule_mining import Steps
from kgdash.studies.rules import Rule, parse_rule


def rule_instances(
    graph: KnowledgeGraph,
    rules: pd.DataFrame | Sequence[str],
    per_rule: int | None = 50,
    negatives: np.ndarray | None = None,
    balanced: bool = True,
    seed: int = 0,
    max_chains: int = 10,
    progress: Progress = silent,
) -> Instances:
    """Label the predictions of rules: what they say of the train graph that is not in it (§9).

    A prediction is true if it is in valid ∪ test. Without ``negatives`` every other one is false:
    the closed-world reading, under which a fact that nobody wrote down counts as false. With
    ``negatives``, triples that people found to be false, only those are false and the remaining
    predictions are left out. A chain is one grounding of the body, on train, with the head triple;
    true predictions often have more groundings than false ones, and the best of many is larger than
    the best of few, so that the mean over the chains is the more cautious figure.

    :param graph: bodies are read on train
    :param rules: rules as `kgdash.studies.rules.parse_rule` reads them, or a table with these in a
        column ``rule``, such as `kgdash.studies.rule_mining.mine_rules` returns
    :param per_rule: most instances of a rule per label, a random choice; None for all
    :param negatives: int64 ids, shape ``(n, 3)``; those that are facts are ignored
    :param balanced: keep as many true as false ones per rule; a rule with predictions of one label
        only is then left out, and counted in ``notes``
    :param seed: same seed, same instances
    :param max_chains: groundings kept per prediction, a random choice of them
    :param progress: called with (done, total)
    :return: groups are the rules, as given
    :raises KgdashError: if train is empty, a rule can not be read, or a number is below 1
    """
    if min(max_chains, 1 if per_rule is None else per_rule) < 1:
        raise KgdashError("expected at least one instance per rule and one chain per instance")
    texts = list(dict.fromkeys(rules["rule"] if isinstance(rules, pd.DataFrame) else rules))
    oracle = _Oracle.of(graph, negatives)
    parts: list[pd.DataFrame] = []
    described: list[tuple[int, str, str]] = []
    one_sided = nothing_new = 0
    for number, text in enumerate(texts):
        rule, rng = parse_rule(text, graph), np.random.default_rng([seed, number])
        triples, labels = oracle.predictions(rule)
        kept = _choose(labels, per_rule, balanced, rng)
        nothing_new += not len(labels)
        one_sided += len(labels) > 0 and not len(kept)
        chains = oracle.chains(rule, triples[kept], max_chains, rng)
        chains["label"] = labels[kept][chains["instance"]]
        chains["group"] = text
        chains["instance"] += len(described)
        parts.append(chains)
        described += _describe(graph, triples[kept], len(described))
        progress(number + 1, len(texts))
    notes = [f"false: {'not known (closed world)' if negatives is None else 'verified by people'}"]
    for count, why in (
        (one_sided, "predictions of one label only"),
        (nothing_new, "no labelled prediction outside train"),
    ):
        if count:
            notes.append(f"{count} of {len(texts)} rules left out: {why}")
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=TRIPLE_COLUMNS)
    table = pd.DataFrame(described, columns=["instance", "question", "answer"])
    return make_instances(rows, table, notes)


@dataclass(frozen=True)
class _Oracle:
    """Knows what rules predict on train, and whether that is so."""

    steps: Steps
    train: KnownTriples
    facts: KnownTriples
    negatives: KnownTriples | None

    @classmethod
    def of(cls, graph: KnowledgeGraph, negatives: np.ndarray | None) -> _Oracle:
        return cls(
            Steps.of(graph.split("train"), graph.num_entities, graph.num_relations),
            graph.known(("train",)),
            graph.known(),
            None if negatives is None else graph.index(triple_array(negatives, graph)),
        )

    def predictions(self, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
        """Return the labelled predictions: triples ``(n, 3)``, sorted, and labels ``(n,)``."""
        body = self.steps.matrix(rule.steps[0])
        if len(rule.steps) == 2:
            other = self.steps.matrix(rule.steps[1])
            body = body.multiply(other) if rule.joint else body @ other
        head, tail = body.nonzero()
        triples = np.column_stack([head, np.full(len(head), rule.head), tail]).astype(np.int64)
        triples = triples[np.lexsort((tail, head))]
        triples = triples[~self.train.contains(triples)]
        true = self.facts.contains(triples)
        if self.negatives is None:
            return triples, true
        labelled = true | self.negatives.contains(triples)
        return triples[labelled], true[labelled]

    def chains(
        self, rule: Rule, triples: np.ndarray, max_chains: int, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Return the groundings of predictions; ``instance`` is the position in ``triples``."""
        instance, middle = np.arange(len(triples)), np.zeros(len(triples), dtype=np.int64)
        if len(rule.steps) == 2 and not rule.joint:
            instance, middle = _capped(*self._middles(rule, triples), max_chains, rng)
        value = {"a": triples[instance, 0], "b": triples[instance, 2], "h": middle}
        atoms = [*rule.atoms(self.steps.num_relations), (rule.head, "a", "b")]
        parts = [
            pd.DataFrame(
                {
                    "instance": instance,
                    "chain": np.arange(len(instance)),
                    "head": value[start],
                    "relation": relation,
                    "tail": value[end],
                    "is_head": place == len(atoms) - 1,
                }
            )
            for place, (relation, start, end) in enumerate(atoms)
        ]
        return pd.concat(parts, ignore_index=True)

    def _middles(self, rule: Rule, triples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the h of each prediction's groundings a → h → b: position and entity."""
        ahead = self.steps.matrix(rule.steps[0])[triples[:, 0]]
        behind = self.steps.matrix(rule.steps[1]).T.tocsr()[triples[:, 2]]
        both = sparse.csr_array(ahead.multiply(behind))
        both.sort_indices()
        position = np.repeat(np.arange(len(triples)), np.diff(both.indptr))
        return position, both.indices.astype(np.int64)


def _capped(
    owner: np.ndarray, value: np.ndarray, most: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Keep at most ``most`` values per owner (ascending), a random choice in the given order."""
    order = np.lexsort((rng.random(len(owner)), owner))
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    kept = np.sort(order[place < most])
    return owner[kept], value[kept]


def _choose(
    labels: np.ndarray, per_rule: int | None, balanced: bool, rng: np.random.Generator
) -> np.ndarray:
    """Choose which predictions to keep: positions, ascending."""
    classes = [np.flatnonzero(labels), np.flatnonzero(~labels)]
    most = len(labels) if per_rule is None else per_rule
    if balanced:
        most = min(most, *map(len, classes))
    chosen = [rng.choice(c, min(most, len(c)), replace=False) for c in classes]
    return np.sort(np.concatenate(chosen))


def _describe(graph: KnowledgeGraph, triples: np.ndarray, first: int) -> list[tuple[int, str, str]]:
    entity, relation = graph.entity_labels, graph.relation_labels
    return [
        (first + i, f"{relation[r]}({entity[h]}, ?)", entity[t])
        for i, (h, r, t) in enumerate(triples.tolist())
    ]
