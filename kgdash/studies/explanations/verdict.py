"""What an explanation says, in plain words: the doubt first, never more than was found.

Rules of the words: numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgdash.statistics.estimate import number
from kgdash.studies.explanations.carrying_facts import CarryingFacts
from kgdash.studies.explanations.leading_rules import MIN_PCA
from kgdash.studies.rules.mining import MIN_HEAD_COVERAGE

if TYPE_CHECKING:
    from kgdash.studies.explanations.explanation import Explanation

#: a rank up to which an answer is said to be predicted
PREDICTED = 10

#: what is said of a fact of train
TRAINED = "The model was trained on this very fact; what follows is found without it."

#: known tails of the same head and relation that a sentence names
_NAMED = 3


def doubts(found: Explanation) -> list[str]:
    """List why the triple may be wrong, or is not what the model predicts; the gravest first."""
    graph, said = found.run.graph, []
    if found.judged == "false":
        said.append("People found this to be false: what follows says why the model errs.")
    elif found.judged == "unknown":
        said.append(
            "Nobody has recorded this: what follows says why the model ranks it as it does, not "
            "that it is true."
        )
    if found.fault:
        said.append(f"No rank is known: {found.fault}.")
    elif found.rank is not None and found.rank > PREDICTED:
        said.append(f"The model does not predict it: rank {found.rank:,g} among the tails.")
    if not found.is_known and found.others:
        names = [graph.entity_labels[tail] for tail in found.others[:_NAMED]]
        more = len(found.others) - len(names)
        rest = f" and {more:,} more" if more else ""
        said.append(f"Known tails are others: {', '.join(names)}{rest}.")
    if not found.is_known and not len(found.rules.table):
        said.append(no_rule_text(found))
    return said


def reasons(found: Explanation) -> list[str]:
    """List what leads to the triple: rules, facts that carry it, similar entities."""
    said = []
    if found.judged == "train":
        said.append(TRAINED)
    rules = found.rules
    if len(rules.table):
        best, values = rules.table.iloc[0], rules.table[["pca_confidence", "support"]]
        alike = int((values == values.iloc[0]).all(axis=1).sum())
        which = f"one of {alike:,} that are best" if alike > 1 else "the best"
        said.append(
            f"{len(rules.table):,} of {rules.mined:,} rules of the relation lead to it; {which}: "
            f"{best['reading']}, PCA confidence {number(best['pca_confidence'])}, "
            f"{best['support']:,} facts."
        )
    elif found.is_known:
        said.append(no_rule_text(found))
    said += [f"{note[0].upper()}{note[1:]}." for note in rules.notes]
    said += [carried_text(found, each) for each in found.carried]
    if not found.fault:
        said.append(similar_text(found))
    return said


def sentences(found: Explanation) -> Sequence[str]:
    """Return doubts, then reasons."""
    return [*doubts(found), *reasons(found)]


def rank_change(each: CarryingFacts) -> str:
    """Write ``without these 2 facts: rank 1 → 37``; facts there must be."""
    count = len(each.facts)
    these = "this fact" if count == 1 else f"these {count} facts"
    return f"without {these}: rank {each.rank_before:,g} → {each.rank_after:,g}"


def carried_text(found: Explanation, each: CarryingFacts) -> str:
    """Say which facts of an entity carry a prediction, or why none are shown."""
    label = found.run.graph.entity_labels[each.entity]
    if not len(each.facts):
        return f"No facts of {label} are shown: {each.missing}."
    if not each.carries:
        return f"No few facts of {label} carry it: even {rank_change(each)} of the {each.side}."
    return f"Facts of {label} carry it: {rank_change(each)} of the {each.side}."


def no_rule_text(found: Explanation) -> str:
    """Say that no rule leads to the triple."""
    mined = found.rules.mined
    return (
        f"None of {mined:,} mined rules leads to it."
        if mined
        else "No rule of its relation is mined, of a PCA confidence of "
        f"{MIN_PCA:g}, a support of 2 and {MIN_HEAD_COVERAGE:.0%} of its facts at least."
    )


def similar_text(found: Explanation) -> str:
    """Say how many of the most similar entities have the tail, or why none are known."""
    if found.similar is None:
        return found.fault or f"{found.run.spec.name} has no entity vectors that could be compared."
    if found.similar.empty:
        return "No other entity has the relation in train."
    same = int(found.similar["same"].sum())
    return (
        f"Of the {len(found.similar)} most similar entities that have the relation, {same} "
        f"{'has' if same == 1 else 'have'} this tail."
    )
