"""The command why prints what the library finds, and refuses in one message."""

import pytest

from tests.support.cli import strict_json

NAMES = ("virus", "causes", "disease_or_syndrome")


def test_json(call, bundled):
    found = strict_json(call("why", "umls-complex", *NAMES, "--json"))
    assert found == bundled("umls-complex").why(*NAMES).about()
    assert {"rules", "facts", "analogies"} <= found.keys()


def test_for_reading_the_doubt_comes_first(call):
    lines = call("why", "umls-complex", "virus", "causes", "mammal").splitlines()
    assert lines[0] == "virus — causes → mammal"
    assert lines[1].startswith("Doubt: Nobody has recorded this")
    assert "Rules that lead to it" in lines
    assert "Most similar entities with the relation" in lines
    known = call("why", "umls-complex", *NAMES)
    assert "Doubt" not in known
    assert "more: --json" in known


def test_a_model_without_a_refit_says_so(call):
    found = strict_json(call("why", "umls-conve", *NAMES, "--json"))
    assert found["facts"] == []
    assert [each["why"] for each in found["no_facts"]] == ["ConvE has no refit in linear time"] * 2
    assert found["rules"]
    assert found["analogies"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["viru", *NAMES[1:]], "unknown entity 'viru' in graph"),
        (["virus", "cause", "virus"], "unknown relation 'cause' in graph"),
        (["?", *NAMES[1:]], "expected a whole triple to explain"),
    ],
)
def test_refusals(refused, arguments, message):
    assert refused("why", "umls-complex", *arguments).startswith(message)
