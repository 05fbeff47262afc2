"""Cross-fitted ReliK: each training triple judged by a model that was not trained on it.

Defined in numbers.md#28-wrong-facts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import bounded_memory
from kgdash.files.table_cache import replace_table, stored_table
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.arrow_texts import texts_at
from kgdash.graph.folds import Fold, cut_folds
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.training import TrainingConfig, check_memory
from kgdash.statistics.rounding import rounded
from kgdash.studies.correlation.fold_runs import fold_run, is_trained

#: what a triple's ``status`` says: judged by a model that did not see it, or by none
HELD_OUT, NEEDED = "held out", "needed in train"

#: raise when the meaning of a stored table changes
_TABLE_VERSION = 1

#: called with a fold, its held-out triples ``(n, 3)``, its run, and whether it was trained before
OnFold = Callable[[Fold, np.ndarray, Run, bool], None]


@dataclass(frozen=True)
class AuditPlan:
    """How models are trained that do not see what they judge.

    ``config``: of each training; fold i has its random seed plus i. ``folds``, ≥ 2, and ``seed`` of
    the cut are of `cut_folds`. ``of_run``: the run that says how it was trained, as it is now; a
    stranger may have written that, so that it has a bound of memory.
    """

    config: TrainingConfig
    folds: int = 5
    seed: int = 0
    of_run: str = ""

    def bounded(self, graph: KnowledgeGraph) -> AbstractContextManager[None]:
        """Bound the memory of training on a graph as a run says (`bounded_memory`)."""
        if not self.of_run:
            return nullcontext()
        most = check_memory(graph, self.config, self.of_run)
        return bounded_memory(
            most,
            f"training as run.json of run {self.of_run} says takes more than {most / 2**30:.3g} "
            "GiB of memory: set KGDASH_MEMORY to more if you trust it, of which it may take "
            "twice as much; or give its dataset instead, and say how to train",
        )


def no_word(fold: Fold, held: np.ndarray, run: Run, before: bool) -> None:
    """Say nothing of a fold."""


def cross_fit(
    graph: KnowledgeGraph,
    plan: AuditPlan,
    workdir: Path,
    progress: Progress = silent,
    on_fold: OnFold = no_word,
) -> pd.DataFrame:
    """Judge each training triple by a model that was trained without it, the least reliable first.

    The training triples are cut into folds; each model trains on all but one, with the graph's own
    valid and test. Negatives are what the whole graph does not know. Trained runs stay in
    ``workdir`` and are found again, so that an interrupted call goes on where it was.

    :return: one row per training triple, by rising ReliK, then by ids, those without at the end:
        ``suspicion`` (Int64, 1 for the first; missing without ReliK), ``head``, ``relation``,
        ``tail`` (int64 ids), ``relik`` (float64 in (0, 1]), ``head_rank``, ``tail_rank`` (Int64,
        ≥ 1, optimistic), ``fold`` (Int64: whose model judged; missing, like the values, where the
        cover keeps a triple in every train), ``status`` (`HELD_OUT` or `NEEDED`)
    :raises KgdashError: if the triples can not be cut so, or a model can not be trained or scores
        NaN
    """
    start = time.monotonic()
    folds = _folds(graph, plan)
    costs = [0.05 if is_trained(workdir, fold, plan.config) else 1.0 for fold, _ in folds]
    parts = []
    for (fold, held), report in zip(folds, phases(progress, costs), strict=True):
        training, judging = phases(report, [0.9, 0.1])
        before = is_trained(workdir, fold, plan.config)
        with plan.bounded(graph):
            run = fold_run(workdir, fold, plan.config, training)
        on_fold(fold, held, run, before)
        # The same model on the whole graph: what it knows is no negative.
        judged = replace(run, graph=graph).relik(triples=held, progress=judging)
        parts.append(judged.assign(fold=fold.number))
    table = _in_order(graph, pd.concat(parts, ignore_index=True))
    about: dict[str, Any] = {"kind": "audit", "graph": graph.name, "method": f"{plan.folds} folds"}
    about |= {"graph_digest": graph.digest, "triples": len(table), "seed": plan.seed}
    replace_table(_key(graph, plan.config), table, about | {"seconds": time.monotonic() - start})
    return table


def kept_audit(graph: KnowledgeGraph, config: TrainingConfig) -> pd.DataFrame | None:
    """Return what `cross_fit` last found with a configuration, if it is still kept."""
    return stored_table(_key(graph, config))


def _folds(graph: KnowledgeGraph, plan: AuditPlan) -> list[tuple[Fold, np.ndarray]]:
    """Cut the training triples: folds whose splits valid and test are the graph's, what is held."""
    train = graph.split("train")
    if not 2 <= plan.folds <= len(train):
        raise KgdashError(
            f"audit: expected 2 to {len(train):,} folds of the training triples of graph "
            f"{graph.name}; found {plan.folds}"
        )
    none = np.empty((0, 3), dtype=np.int64)
    alone = replace(graph, splits={"train": train, "valid": none, "test": none})
    rest = {split: graph.splits[split] for split in ("valid", "test")}
    return [
        (
            replace(
                fold, graph=replace(graph, splits={"train": fold.graph.splits["train"], **rest})
            ),
            np.concatenate([fold.graph.splits["valid"], fold.graph.splits["test"]]),
        )
        for fold in cut_folds(alone, plan.folds, plan.seed)
    ]


def _in_order(graph: KnowledgeGraph, judged: pd.DataFrame) -> pd.DataFrame:
    """Put all training triples in the order of suspicion."""
    every = pd.DataFrame(graph.splits["train"], columns=IDS)
    table = every.merge(judged, on=IDS, how="left", validate="one_to_one")
    whole = ["head_rank", "tail_rank", "fold"]
    table = table.astype(dict.fromkeys(whole, "Int64"))
    equal = table.assign(relik=rounded(table["relik"].to_numpy()))  # else a last bit is an order
    table = table.loc[equal.sort_values(["relik", *IDS]).index]
    there = table["relik"].notna()
    table["status"] = np.where(there, HELD_OUT, NEEDED)
    table.insert(0, "suspicion", there.cumsum().astype("Int64").where(there))
    columns = ["suspicion", *IDS, "relik", *whole, "status"]
    return table[columns].reset_index(drop=True)


def _key(graph: KnowledgeGraph, config: TrainingConfig) -> dict[str, Any]:
    key = {"kind": "audit", "version": _TABLE_VERSION, "graph": graph.digest}
    return key | {"training": config.record()}


def named_audit(graph: KnowledgeGraph, table: pd.DataFrame) -> pd.DataFrame:
    """Put names in place of ids into what `cross_fit` found, and labels at its end."""
    named = table.copy()
    for column in IDS:
        names = graph.relations if column == "relation" else graph.entities
        named[column] = texts_at(names, table[column].to_numpy())
    labels = graph.with_names(table)
    return named.assign(**{f"{column}_label": labels[column] for column in IDS})
