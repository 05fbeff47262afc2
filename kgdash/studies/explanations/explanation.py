"""Why a model gives an answer, as one object.

Defined in numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from kgdash.engine.workers import one_thread
from kgdash.errors import KgdashError
from kgdash.files.html import facts_html
from kgdash.graph import default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.classification.given_negatives import verified_negatives
from kgdash.studies.explanations.analogies import analogies
from kgdash.studies.explanations.carrying_facts import CarryingFacts, carrying_facts
from kgdash.studies.explanations.leading_rules import LeadingRules, leading_rules
from kgdash.studies.explanations.summary import summary
from kgdash.studies.explanations.verdict import sentences
from kgdash.studies.inspection.candidates import SideCandidates, side_candidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple, find_triple


@dataclass(frozen=True)
class Explanation:
    """What leads a model to a triple.

    ``judged``: "train", "valid" or "test", the first split that holds the triple; "false" if people
    found it false; "unknown". ``others``: known tails of its head and relation, ids, ascending.
    ``sides``: candidates of "tail" and "head"; empty where the model gives NaN, then ``fault`` says
    so. ``carried``: refits by the side that is ranked, "tail" (the head refitted) first.
    ``similar``: of `kgdash.studies.explanations.analogies.analogies`.
    """

    run: Run
    triple: InspectedTriple
    judged: str
    others: tuple[int, ...]
    sides: dict[str, SideCandidates]
    rules: LeadingRules
    carried: tuple[CarryingFacts, ...]
    similar: pd.DataFrame | None
    fault: str = ""

    @property
    def is_known(self) -> bool:
        """Tell whether a split holds the triple."""
        return self.judged not in ("false", "unknown")

    @property
    def rank(self) -> float | None:
        """Return the filtered realistic rank of the tail; None where scores are NaN."""
        tails = self.sides.get("tail")
        return None if tails is None else tails.rank(int(self.triple.row[0, 2])).realistic

    def about(self) -> dict[str, Any]:
        """Return it as plain data with names, as the command ``why`` prints it."""
        return summary(self)

    def __repr__(self) -> str:
        """Return what it says, the doubt first."""
        return " ".join(sentences(self))

    def _repr_html_(self) -> str:
        labels = " – ".join(str(label) for label in self.triple.labels(self.run.graph))
        return facts_html(f"Why {labels}?", {}, list(sentences(self)))


def why(run: Run, head: str, relation: str, tail: str, progress: Progress = silent) -> Explanation:
    """Explain a triple by names or labels; see `kgdash.runs.run.Run.why`."""
    return explain(run, find_triple(run.graph, head, relation, tail), progress)


def explain(run: Run, triple: InspectedTriple, progress: Progress = silent) -> Explanation:
    """Explain a whole triple; it need not be known.

    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: if a side is open, or train is empty
    """
    if triple.open_side is not None:
        raise KgdashError("expected a whole triple to explain; found an open side (?)")
    graph, row = run.graph, triple.row[0]
    first, *rest = phases(progress, [0.5, 0.25, 0.25])
    rules = leading_rules(graph, row, first)
    filter, fault = default_filter(None), ""
    sides: dict[str, SideCandidates] = {}
    carried: list[CarryingFacts] = []
    try:
        sides = {side: side_candidates(run, triple, side, filter) for side in ("tail", "head")}
    except KgdashError as error:
        fault = str(error)
    for (side, candidates), report in zip(sides.items(), rest, strict=False):
        with one_thread():
            carried.append(carrying_facts(run, row, side, candidates, report))
    tails = graph.known().known_answers(triple.row, "tail")[1]
    return Explanation(
        run,
        triple,
        _judged(run, triple),
        tuple(tails[tails != row[2]].tolist()),
        sides,
        rules,
        tuple(carried),
        None if fault else analogies(run, row),
        fault,
    )


def _judged(run: Run, triple: InspectedTriple) -> str:
    split = str(run.graph.split_of(triple.row)[0])
    if split != "none":
        return split
    try:
        negatives = verified_negatives(run)
    except KgdashError:  # the dataset's files are damaged: nothing is known by them
        negatives = None
    false = negatives is not None and bool((negatives == triple.row).all(axis=1).any())
    return "false" if false else "unknown"
