"""What a model is to kgdash: something that scores triples."""

from kgdash.scoring.protocol import ENTITY_SIDES, Scorer, score_rows, unchecked_rows

__all__ = ["ENTITY_SIDES", "Scorer", "score_rows", "unchecked_rows"]
