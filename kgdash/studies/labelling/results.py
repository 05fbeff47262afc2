"""What came of judging predictions: tables, and instances to compare ReliK on.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.studies.instances.instance_table import write_rule_table
from kgdash.studies.instances.instances import (
    TRIPLE_COLUMNS,
    Instances,
    make_instances,
    tail_question,
)
from kgdash.studies.labelling.events import Event, Labelling
from kgdash.studies.labelling.journal import read_journal
from kgdash.studies.labelling.queue import in_labels, triple_ids
from kgdash.studies.rules.parsing import parsed_rules
from kgdash.studies.rules.rule import Rule

if TYPE_CHECKING:
    from kgdash.runs import Run

_Ids = tuple[int, int, int]


def labelled_instances(run: Run) -> Instances:
    """Return the predictions that people have judged on a run's graph, with their labels.

    A triple that several rules predicted is an instance of each.

    :return: groups are the rules; true instances are those that people judged true
    :raises KgdashError: if nobody has judged any, or the journal can not be read
    """
    return instances_of_labels(read_journal(run.graph), run.graph)


def labelled_rule_table(graph: KnowledgeGraph, most: int | None = None) -> str:
    """Write the predictions that people have judged, as `write_rule_table`.

    :param most: as there
    :raises KgdashError: as `labelled_instances` and `write_rule_table`
    """
    instances = instances_of_labels(read_journal(graph), graph)
    return write_rule_table(instances, graph, most=most)


def instances_of_labels(labelling: Labelling, graph: KnowledgeGraph) -> Instances:
    """Return the judged predictions as instances; else like `labelled_instances`."""
    check_labelled(labelling, graph)
    rows: list[tuple] = []
    described: list[tuple[int, str, str]] = []
    named = _first_names(labelling, graph)
    for event in labelling.labels().values():
        if event.triple is None:
            continue
        head, relation, tail = ids = triple_ids(event.triple, graph)
        question = tail_question(graph, head, relation)
        answer = graph.entity_lookup.distinct_label(tail)
        for rule, bodies in _distinct(event, ids, graph, named):
            number = len(described)
            described.append((number, question, answer))
            for number_of, body in enumerate(bodies):
                about = (rule, number, number_of, bool(event.label))
                rows += [(*about, *triple, False) for triple in body]
                rows.append((*about, *ids, True))
    columns = [column for column in TRIPLE_COLUMNS if column != "predicted_side"]
    judged = sum(bool(event.groundings) for event in labelling.labels().values())
    people = sorted({event.by for event in labelling.labels().values() if event.by})
    by = f"by {', '.join(people)}" if people else "by hand"
    return make_instances(
        pd.DataFrame(rows, columns=columns, dtype=object),
        pd.DataFrame(described, columns=["instance", "question", "answer"], dtype=object),
        [f"{judged:,} predictions labelled {by}"],
    )


def check_labelled(labelling: Labelling, graph: KnowledgeGraph) -> None:
    """Refuse labels of which none is of a prediction.

    :raises KgdashError: then
    """
    if not any(event.groundings for event in labelling.labels().values()):
        raise KgdashError(
            f"no prediction on graph {graph.name} has a label yet; judge some on the page Label "
            "predictions, or with: kgdash label RUN"
        )


def _distinct(
    event: Event, ids: _Ids, graph: KnowledgeGraph, named: Mapping[str, str]
) -> Iterator[tuple[str, list]]:
    """Yield rules that predict a triple, and their bodies, by ids: what says the same once."""
    said = set()
    for found in event.groundings:
        rule = named[found.rule]
        bodies = [[triple_ids(t, graph) for t in body] for body in found.groundings or ((),)]
        what = rule, frozenset(frozenset((*body, ids)) for body in bodies)
        if what not in said:
            said.add(what)
            yield rule, bodies


def _first_names(labelling: Labelling, graph: KnowledgeGraph) -> dict[str, str]:
    """Map the text of each rule to how it was first written, whatever its variables are called."""
    events = labelling.labels().values()
    texts = dict.fromkeys(found.rule for event in events for found in event.groundings)
    parsed, first = parsed_rules(texts, graph), dict[Rule | str, str]()
    return {text: first.setdefault(parsed.get(text, text), text) for text in texts}


def label_table(labelling: Labelling, graph: KnowledgeGraph) -> pd.DataFrame:
    """List the labels that hold, the latest first.

    :return: ``number`` (int64: of the event, to take it back), ``prediction`` (str, in labels),
        ``label`` ("true" or "false"), ``rules`` (int64), ``by``, ``at`` (str)
    """
    rows = [
        (
            number,
            in_labels(event.triple, graph),
            "true" if event.label else "false",
            len(event.groundings),
            event.by,
            event.at,
        )
        for number, event in reversed(labelling.labels().items())
        if event.triple is not None
    ]
    table = pd.DataFrame(rows, columns=["number", "prediction", "label", "rules", "by", "at"])
    return table.astype({"number": "int64", "rules": "int64"})
