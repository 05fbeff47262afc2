"""Which ranks a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from kgdash.errors import check_name
from kgdash.graph import FILTERS, SPLITS, default_filter
from kgdash.graph.known_triples import RANK_TYPES

#: what is asked for: (?, r, t), (h, r, ?), both pooled, or (h, ?, t)
Side = Literal["head", "tail", "both", "relation"]

#: how ties count
RankType = Literal["optimistic", "realistic", "pessimistic"]


@dataclass(frozen=True)
class RankSetting:
    """Which ranks: of which split, filtered by what, of which side, ties counted how.

    ``filter`` is one of `kgdash.graph.FILTERS`, or None for the one that fits the split;
    ``filter="none"`` asks for raw ranks. Defined in numbers.md#1-ranks.

    :raises KgdashError: if a choice is unknown; what there is, is named
    """

    split: str = "test"
    filter: str | None = None
    side: Side = "both"
    rank_type: RankType = "realistic"

    def __post_init__(self) -> None:
        for kind, name, known in (
            ("split", self.split, SPLITS),
            ("filter", self.filter_used, FILTERS),
            ("side", self.side, get_args(Side)),
            ("rank type", self.rank_type, RANK_TYPES),
        ):
            check_name(kind, name, known, "kgdash")

    @classmethod
    def parse(
        cls,
        split: str = "test",
        filter: str | None = None,
        side: str = "both",
        rank_type: str = "realistic",
    ) -> RankSetting:
        """Make a setting of text, as commands and addresses have it.

        :raises KgdashError: if a choice is unknown
        """
        return cls(split, filter, cast(Side, side), cast(RankType, rank_type))

    @property
    def filter_used(self) -> str:
        """Name the filter, the default one where none was chosen."""
        return self.filter or default_filter(self.split)
