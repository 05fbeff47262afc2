"""What is worth a second look: facts that the model doubts, and missing ones that it believes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.arrow_texts import texts_at
from kgdash.studies.instances.instances import ScoredInstances
from kgdash.studies.instances.separation import measure_column

_LABELS = ["head_label", "relation_label", "tail_label"]


def likely_errors(
    table: pd.DataFrame, label: bool, measure: str = "relik", aggregate: str = "max"
) -> pd.DataFrame:
    """Return the instances of a label, those that most look like the other first.

    True ones with the least values, or false ones with the greatest: errors of the model, or of
    the graph.

    :param table: the ``table`` of `kgdash.studies.instances.instances.ScoredInstances`
    :param label: True for true instances from the least value up, False for false ones from the
        greatest down
    :param measure: one of `kgdash.studies.instances.instances.MEASURES`
    :param aggregate: "max" or "mean"
    :return: rows of ``table``
    :raises KgdashError: on an unknown measure or aggregate
    """
    column = measure_column(measure, aggregate)
    rows = table[table["label"] == label]
    return rows.sort_values(column, ascending=label, kind="stable").reset_index(drop=True)


def suspicious_facts(graph: KnowledgeGraph, scored: ScoredInstances) -> pd.DataFrame:
    """List the known facts among the instances' triples, least ReliK first.

    A low ReliK says that the model is unsure here, not that the fact is wrong.

    :param graph: of the run that scored
    :return: one row per distinct triple: ``head, relation, tail`` (names), ``head_label,
        relation_label, tail_label``, ``split``, ``relik``, ``reciprocal_rank`` (in (0, 1]; by its
        tail, or its head where only that was asked for), ``score`` (float64), ``instances`` and
        ``groups`` (int64: in how many of them it occurs), ``mirror``: "known" if its relation also
        leads from tail to head, "listed" if the mirror image stands in this list alone, else ""
    """
    rows = _distinct(graph, scored.triples)
    rows = rows[rows["split"] != "none"].sort_values(["relik", *IDS])
    return _named(graph, rows)


def plausible_missing_triples(
    graph: KnowledgeGraph, scored: ScoredInstances, confidence: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """List the triples among the instances' that no split holds, most reliable first.

    :param graph: of the run that scored
    :param confidence: of groups that are rules, see `rule_confidence`
    :return: as `suspicious_facts`, but ``predicted_by`` (int64) for ``groups``: how many rules or
        types of queries lead to the triple; ``pca_confidence`` (float64): the greatest of theirs,
        if any is given
    """
    rows = _distinct(graph, scored.triples, confidence)
    rows = rows[rows["split"] == "none"].sort_values(IDS)
    rows = rows.sort_values("relik", ascending=False, kind="stable")
    return _named(graph, rows).rename(columns={"groups": "predicted_by"}).drop(columns="split")


def _distinct(
    graph: KnowledgeGraph, triples: pd.DataFrame, confidence: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Sum up the rows of each triple."""
    rows = triples
    values = {
        "relik": ("relik", "first"),
        "reciprocal_rank": ("reciprocal_rank", "first"),
        "score": ("score", "first"),
        "instances": ("instance", "nunique"),
        "groups": ("group", "nunique"),
    }
    if confidence:
        rows = rows.assign(pca_confidence=rows["group"].map(confidence).astype(np.float64))
        values["pca_confidence"] = ("pca_confidence", "max")
    # The rank of the tail, where both ends were asked for.
    rows = rows.sort_values("predicted_side", ascending=False, kind="stable")
    found = rows.groupby(IDS, sort=False).agg(**values).reset_index()
    found["split"] = graph.split_of(found[IDS].to_numpy())
    return found


def _named(graph: KnowledgeGraph, rows: pd.DataFrame) -> pd.DataFrame:
    """Put names and labels in place of ids, and note mirror images."""
    ids = rows[IDS].to_numpy(dtype=np.int64)
    named = rows.assign(mirror=_mirrors(graph, ids))
    for at, (column, names, labels) in enumerate(
        zip(
            IDS,
            (graph.entities, graph.relations, graph.entities),
            (graph.entity_labels, graph.relation_labels, graph.entity_labels),
            strict=True,
        )
    ):
        named[column] = texts_at(names, ids[:, at])
        named[_LABELS[at]] = texts_at(labels, ids[:, at])
    values = [c for c in ("relik", "reciprocal_rank", "score", "instances", "groups") if c in rows]
    more = ["pca_confidence"] if "pca_confidence" in rows else []
    return named[[*IDS, *_LABELS, "split", *values, *more, "mirror"]].reset_index(drop=True)


def _mirrors(graph: KnowledgeGraph, ids: np.ndarray) -> np.ndarray:
    swapped = ids[:, ::-1].copy()
    own = ids[:, 0] == ids[:, 2]
    listed = graph.index(ids).contains(swapped) & ~own
    known = graph.known().contains(swapped) & ~own
    return np.select([known, listed], ["known", "listed"], "").astype(object)
