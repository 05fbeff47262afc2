"""What is asked of subgraphs: whose ranks, which ReliK, which negatives."""

from dataclasses import dataclass

from kgdash.errors import KgdashError, check_name

#: choice -> splits whose triples the reciprocal ranks are taken of (numbers.md#6-correlation-study)
EVALUATED: dict[str, tuple[str, ...]] = {"test": ("test",), "all": ("train", "valid", "test")}

#: whom the replaced end of a negative is drawn from
CORRUPT = ("inside", "anywhere")

#: k of the Hits@k
KS = (1, 3, 10)


def check_evaluated(evaluated: str) -> None:
    """Refuse a choice of evaluated triples that is not in `EVALUATED`.

    :raises KgdashError: which says what there is
    """
    check_name("choice of evaluated triples", evaluated, EVALUATED, "subgraphs")


@dataclass(frozen=True)
class SubgraphEvaluation:
    """What is computed of the triples inside subgraphs.

    ``evaluated``: "test" or "all", the triples that are ranked and classified; training triples
    flatter the model. ``relik_method``: of `Run.relik`; ``filter`` of the ranks; ``ks`` of Hits@k,
    each ≥ 1. ``corrupt``: "inside" or "anywhere", where the negatives of classification take their
    new end; ``seed`` of these negatives, ≥ 0.

    :raises KgdashError: on an unknown choice, a k below 1, or a seed below 0
    """

    evaluated: str = "test"
    relik_method: str = "exact"
    filter: str = "train+valid+test"
    ks: tuple[int, ...] = KS
    corrupt: str = "inside"
    seed: int = 0

    def __post_init__(self) -> None:
        check_evaluated(self.evaluated)
        check_name("choice of candidates", self.corrupt, CORRUPT, "subgraphs")
        if any(k < 1 for k in self.ks):
            raise KgdashError(f"expected Hits@k with k ≥ 1; found {min(self.ks)}")
        if self.seed < 0:
            raise KgdashError(f"expected a seed ≥ 0; found {self.seed}")

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the splits whose triples are evaluated."""
        return EVALUATED[self.evaluated]
