"""The command ``why``: what leads a model to a triple."""

from typing import Annotated, Any

import typer

from kgdash.commands.options.common import JsonOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.options.output import print_json
from kgdash.commands.options.terminal import say
from kgdash.progress import terminal

_PART = "Name or label."

#: rules that are printed; JSON holds them all
_LISTED = 10


def why(
    run: RunOptions,
    head: Annotated[str, typer.Argument(metavar="HEAD", help=_PART)],
    relation: Annotated[str, typer.Argument(metavar="RELATION", help=_PART)],
    tail: Annotated[str, typer.Argument(metavar="TAIL", help=_PART)],
    as_json: JsonOption = False,
) -> None:
    """Say why a model gives an answer: rules, the facts that carry it, similar entities."""
    from kgdash.graph import triple_text
    from kgdash.studies.explanations.explanation import explain
    from kgdash.studies.explanations.summary import summary
    from kgdash.studies.inspection.inspected_triple import find_triple

    loaded = run.load()
    triple = find_triple(loaded.graph, head, relation, tail)
    about = summary(explain(loaded, triple, terminal("why")))
    if as_json:
        print_json(about)
        return
    say(triple_text(*(str(label) for label in triple.labels(loaded.graph))))
    for sentence in about["doubts"]:
        say(f"Doubt: {sentence}")
    for sentence in about["reasons"]:
        say(sentence)
    _print_lists(about)


def _print_lists(about: dict[str, Any]) -> None:
    """Print rules with a path each, carrying facts, and analogies, each below its heading."""
    if about["rules"]:
        print("\nRules that lead to it\nPCA confidence\tsupport\tpaths\trule")
    for rule in about["rules"][:_LISTED]:
        confidence = f"{rule['pca_confidence']:.3f}"
        say(confidence, rule["support"], rule["groundings"], rule["reading"])
        say("", "as: " + "; ".join(" — ".join(triple) for triple in rule["paths"][0]))
    if len(about["rules"]) > _LISTED:
        print(f"and {len(about['rules']) - _LISTED:,} more: --json")
    for found in about["facts"]:
        change = f"rank {found['rank_before']:,g} → {found['rank_after']:,g}"
        print()
        say(f"Facts of {found['entity']}; without them: {change} of the {found['side']}")
        for triple in found["facts"]:
            say(*triple)
    if about["analogies"]:
        print("\nMost similar entities with the relation\nentity\tdistance\ttails")
    for row in about["analogies"]:
        say(row["entity"], f"{row['distance']:.4g}", ", ".join(row["tails"]))
