"""The plain data of an explanation has the form that others rely on."""

import json

from kgdash.studies.explanations.explanation import explain
from kgdash.studies.inspection.inspected_triple import InspectedTriple


def test_form(written):
    run = written("ComplEx").run
    names = run.graph.entities
    for row in run.graph.split("test")[:6].tolist():
        found = explain(run, InspectedTriple(*row))
        about = json.loads(json.dumps(found.about(), allow_nan=False))
        assert about["triple"] == [names[row[0]], run.graph.relations[row[1]], names[row[2]]]
        assert len(about["rules"]) == len(found.rules.table)
        for rule in about["rules"]:
            assert len(rule["paths"]) == min(rule["groundings"], 10)
            assert all(len(triple) == 3 for path in rule["paths"] for triple in path)
        shown = [each for each in found.carried if len(each.facts)]
        assert [each["rank_after"] for each in about["facts"]] == [e.rank_after for e in shown]
        for each, expected in zip(about["facts"], shown, strict=True):
            ids = [
                [names.index(h), run.graph.relations.index(r), names.index(t)]
                for h, r, t in each["facts"]
            ]
            assert ids == expected.facts.tolist()
        assert len(about["facts"]) + len(about["no_facts"]) == 2
        assert [each["entity"] for each in about["analogies"]] == [
            names[e] for e in found.similar["entity"]
        ]
