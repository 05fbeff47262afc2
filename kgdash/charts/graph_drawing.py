"""A part of the graph as the interactive drawing takes it: entities with places, facts with ReliK.

The drawing itself is a web component: `kgdash.ui.graph_view.component`.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.charts.graph_layout import Layout
from kgdash.charts.relik_scale import ReliKScale
from kgdash.charts.style import RELIABILITY_SCALE, SIDE_COLOURS
from kgdash.graph.relation_names import end_first

#: choices of the facts to draw in a graph, and how many are few
FACTS = ("all", "least reliable", "most reliable")
FEW = 100

#: more facts than this, or than this times the entities, are a tangle as lines
_MANY, _PER_ENTITY = 300, 4

#: more facts than this are no longer sent to the browser
_MOST = 10_000

#: more entities than this are too many rows for a matrix that one can read
_ROWS = 150

#: an interval of ReliK whose ends differ by a larger factor tells no colour
_WIDE = 10.0

_UNKNOWN = "#98a1ab"


@dataclass(frozen=True)
class GraphDrawing:
    """What is drawn.

    ``entities``: ids, each once; ``labels`` of all entities of the graph and ``relations``, labels,
    by id; ``triples``: ``head, relation, tail`` (ids), ``relik`` in (0, 1], and where it is sampled
    ``relik_low``, ``relik_high``; ``placed`` of all the entities; ``seed_entity``, if any, is
    marked, and so are those that were ``added``. ``name`` is of saved files, in which ``caption``
    stands.
    """

    entities: np.ndarray
    triples: pd.DataFrame
    labels: Sequence[str]
    relations: Sequence[str]
    placed: Layout
    scale: ReliKScale
    seed_entity: int | None = None
    added: frozenset[int] = frozenset()
    name: str = "graph"
    caption: str = ""

    def payload(self) -> dict[str, Any]:
        """Lay it out as JSON for the component.

        Edges are in the order of ``triples``; their ReliK is None while only a wide interval is
        known. ``version`` changes when anything else here does, ``part`` when the drawing is of
        another part of the graph: then zoom and the chosen relation begin anew.
        """
        content = {
            "part": f"{self.name} {self.seed_entity}",
            "nodes": self._nodes(),
            "edges": self._edges(),
            "relation_ids": self._relation_ids(),
            "relations": [end_first(self.relations[r]) for r in self._relation_ids()],
            "scale": self._scale(),
            "shape": self.placed.shape,
            "view": readable_view(len(self.entities), len(self.triples)),
            "facts": readable_facts(len(self.triples)),
            "few": FEW,
            "title": self.caption,
            "seedColour": SIDE_COLOURS["relation"],
            "name": self.name,
            "caption": self.caption,
        }
        written = json.dumps(content, sort_keys=True).encode()
        return content | {"version": hashlib.sha256(written).hexdigest()[:16]}

    def _nodes(self) -> list[dict[str, Any]]:
        ends = self.triples[["head", "tail"]].to_numpy()
        degree = np.bincount(ends.ravel(), minlength=len(self.labels))[self.entities]
        weight = np.sqrt(degree / max(degree.max(initial=0), 1))
        rank = {entity: place for place, entity in enumerate(self.placed.order)}
        return [
            {
                "id": entity,
                "label": self.labels[entity],
                "x": round(self.placed.positions[entity][0], 5),
                # Screens count downwards.
                "y": round(-self.placed.positions[entity][1], 5),
                "weight": round(float(w), 3),
                "order": rank[entity],
                "group": self.placed.groups[entity],
                "seed": entity == self.seed_entity,
                "added": entity in self.added,
            }
            for entity, w in zip(self.entities.tolist(), weight, strict=True)
        ]

    def _edges(self) -> list[dict[str, Any]]:
        index = {entity: place for place, entity in enumerate(self.entities.tolist())}
        relation = {r: place for place, r in enumerate(self._relation_ids())}
        relik = known_relik(self.triples)
        rows = self.triples[["head", "relation", "tail"]].to_numpy().tolist()
        return [
            {
                "a": index[h],
                "b": index[t],
                "r": relation[r],
                "relik": None if np.isnan(value) else float(f"{value:.6g}"),
            }
            for (h, r, t), value in zip(rows, relik, strict=True)
        ]

    def _relation_ids(self) -> list[int]:
        return np.unique(self.triples["relation"].to_numpy()).tolist()

    def _scale(self) -> dict[str, Any]:
        places, texts = self.scale.ticks()
        return {
            "low": self.scale.low,
            "median": self.scale.median,
            "high": self.scale.high,
            "stops": [colour for _, colour in RELIABILITY_SCALE],
            "ticks": [
                {"place": place, "text": text, "isMedian": place == 0.5}
                for place, text in zip(places, texts, strict=True)
            ],
            "title": f"ReliK (log scale), {self.scale.source}".rstrip(", "),
            "unknown": _UNKNOWN,
        }


def known_relik(triples: pd.DataFrame) -> np.ndarray:
    """Return ReliK where it is known: NaN where an interval's ends differ more than tenfold.

    :param triples: ``relik``, and where it is sampled ``relik_low``, ``relik_high``
    :return: float64, shape ``(n,)``
    """
    relik = triples["relik"].to_numpy(dtype=np.float64)
    if "relik_low" not in triples:
        return relik
    wide = triples["relik_high"].to_numpy() > _WIDE * triples["relik_low"].to_numpy()
    return np.where(wide, np.nan, relik)


def drawable(triples: pd.DataFrame) -> pd.DataFrame:
    """Return what a browser can draw of triples: all, or the 10,000 of least ReliK.

    :param triples: with ``relik``
    """
    return triples if len(triples) <= _MOST else triples.nsmallest(_MOST, "relik", keep="first")


def readable_view(entities: int, facts: int) -> str:
    """Return the view in which so much can be read: "graph" or "matrix"."""
    dense = facts > _MANY and facts > _PER_ENTITY * entities
    return "matrix" if dense and entities <= _ROWS else "graph"


def readable_facts(facts: int) -> str:
    """Return which facts a graph of so many facts shows at first: doubt first, or "all"."""
    return FACTS[1] if facts > _MANY else FACTS[0]
