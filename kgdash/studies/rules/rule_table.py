"""Rules of a graph as a table: mined ones by numbers, others as they are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from kgdash.graph import KnowledgeGraph
from kgdash.studies.rules.parsing import parse_rule
from kgdash.studies.rules.rule import Rule, path_rule, rule_reading, rule_text


@dataclass(frozen=True)
class Rules:
    """Rules of a graph, and what is known of each.

    ``table``: one row per rule: the columns of `kgdash.studies.rules.confidence.METRICS`, NaN where
    they are not known, and either ``rule`` (str, as `rule_text` writes it) and ``reading`` (str, in
    labels), or what `kgdash.studies.rules.mining.mine_bodies` tells. ``notes`` say what was left
    out. ``read``: the same rules, where they were read already.
    """

    graph: KnowledgeGraph
    table: pd.DataFrame
    notes: tuple[str, ...] = ()
    read: tuple[Rule, ...] | None = None

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Return the rules in the table's order; of a table, read when first asked for."""
        if self.read is not None:
            return self.read
        if "rule" not in self.table:
            return _mined(self.table, self.graph)
        return tuple(parse_rule(text, self.graph) for text in self.table["rule"])

    def take(self, at: slice | np.ndarray) -> Rules:
        """Return some rules, by their positions: a slice, or int64 ``(n,)``."""
        places = np.arange(len(self.table))[at]
        read = None if self.read is None else tuple(self.read[place] for place in places)
        table = self.table.iloc[places].reset_index(drop=True)
        return replace(self, table=table, read=read)

    def written(self) -> pd.DataFrame:
        """Return the table with ``rule`` and ``reading``: mined rules are only written here."""
        return self.table if "rule" in self.table else written_rules(self.table, self.graph)


def written_rules(table: pd.DataFrame, graph: KnowledgeGraph) -> pd.DataFrame:
    """Write mined rules: ``rule``, ``reading`` and ``body`` (before the arrow), then their counts.

    :param table: as `kgdash.studies.rules.mining.mine_bodies` returns it
    :raises KgdashError: as `kgdash.studies.rules.rule.rule_text`
    """
    rules = _mined(table, graph)
    texts = [rule_text(rule, graph) for rule in rules]
    words = {"rule": texts, "reading": [rule_reading(rule, graph) for rule in rules]}
    words["body"] = [text.partition("   => ")[0] for text in texts]
    counts = table.drop(columns=["first", "second", "joint"])
    return pd.concat([pd.DataFrame(words, index=table.index, dtype=str), counts], axis=1)


def _mined(table: pd.DataFrame, graph: KnowledgeGraph) -> tuple[Rule, ...]:
    columns = (table[name].tolist() for name in ("head_relation", "first", "second", "joint"))
    return tuple(
        path_rule(head, (first,) if atoms == 1 else (first, second), graph.num_relations, joint)
        for head, first, second, joint, atoms in zip(*columns, table["atoms"].tolist(), strict=True)
    )
