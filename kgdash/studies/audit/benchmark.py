"""Ways to suspect a fact, compared on a graph with planted errors (numbers.md#28-wrong-facts)."""

from pathlib import Path

import numpy as np
import pandas as pd

from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.folds import Fold, cut_folds
from kgdash.graph.known_triples import triple_keys
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring.triple_scores import triple_scores
from kgdash.studies.audit.cross_fitting import AuditPlan, OnFold, cross_fit, no_word
from kgdash.studies.audit.detection import detection
from kgdash.studies.audit.noise import add_noise
from kgdash.studies.correlation.fold_runs import fold_run
from kgdash.studies.rules.predicted_facts import count_predicting
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_rules

#: rules that count: those with at least this PCA confidence, and support
_MIN_PCA, _MIN_SUPPORT = 0.1, 2


def detect_planted(
    graph: KnowledgeGraph,
    plan: AuditPlan,
    share: float,
    workdir: Path,
    progress: Progress = silent,
    on_fold: OnFold = no_word,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Plant errors in train, and see which way of suspecting facts finds them.

    :param share: of errors, see `add_noise`; the plan's seed is theirs too
    :return: the table of `detection` for "cross-fitted ReliK", "cross-fitted score", "plain ReliK",
        "plain score" and "rules"; and that of `cross_fit` with ``planted`` (bool)
    :raises KgdashError: as `add_noise` and `cross_fit`
    """
    noisy, planted = add_noise(graph, share, plan.seed)
    train = noisy.splits["train"]
    fitting, training, judging, mining = phases(progress, [plan.folds, 1.0, 0.1, 0.3])
    scores = np.full(len(train), np.nan)

    def take_scores(fold: Fold, held: np.ndarray, run: Run, before: bool) -> None:
        scores[_rows(noisy, held)] = standardised(triple_scores(run.scorer, held), held[:, 1])
        on_fold(fold, held, run, before)

    table = cross_fit(noisy, plan, workdir, fitting, take_scores)
    crossed = pd.DataFrame(train, columns=IDS).merge(table, on=IDS, how="left")
    (whole,) = cut_folds(noisy, 0)
    with plan.bounded(noisy):
        plain = fold_run(workdir, whole, plan.config, training)
    relik = plain.relik(split="train", progress=judging)["relik"]
    suspicions = {
        "cross-fitted ReliK": -crossed["relik"].to_numpy(),
        "cross-fitted score": -scores,
        "plain ReliK": -relik.to_numpy(),
        "plain score": -standardised(triple_scores(plain.scorer, train), train[:, 1]),
        "rules": -predicting_rules(noisy, mining).astype(float),
    }
    of = pd.DataFrame(train, columns=IDS).assign(planted=planted)
    return detection(suspicions, planted), table.merge(of, on=IDS)


def standardised(scores: np.ndarray, relations: np.ndarray) -> np.ndarray:
    """Make scores of different relations comparable: mean 0 and variance 1 in each.

    :param scores: float, ``(n,)``
    :param relations: int64, ``(n,)``
    :return: float64, ``(n,)``; 0 where all scores of a relation are equal
    """
    each = pd.Series(scores).groupby(relations)
    spread = each.transform("std", ddof=0)
    return ((scores - each.transform("mean")) / spread.where(spread > 0, np.inf)).to_numpy()


def predicting_rules(graph: KnowledgeGraph, progress: Progress = silent) -> np.ndarray:
    """Count the mined rules that predict each training triple from the others: int64, ``(n,)``."""
    mining, applying = phases(progress, [0.5, 0.5])
    selection = RuleSelection(min_pca=_MIN_PCA, min_support=_MIN_SUPPORT)
    rules = find_rules(graph, selection, progress=mining)
    return count_predicting(graph, rules.table, applying)


def _rows(graph: KnowledgeGraph, triples: np.ndarray) -> np.ndarray:
    """Find training triples among all of them: rows, int64, ``(n,)``."""
    size = graph.num_entities, graph.num_relations
    keys = triple_keys(graph.splits["train"], *size)
    order = np.argsort(keys, kind="stable")
    return order[np.searchsorted(keys, triple_keys(triples, *size), sorter=order)]
