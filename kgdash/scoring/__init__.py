"""What a model is to kgdash: something that scores triples; PyKEEN's models made into that.

Imports: engine and below. Start at `protocol.py`.
"""

from kgdash.scoring.protocol import ENTITY_SIDES, Scorer, score_rows, unchecked_rows

__all__ = ["ENTITY_SIDES", "Scorer", "score_rows", "unchecked_rows"]
