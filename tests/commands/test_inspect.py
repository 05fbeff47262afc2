"""The command inspect prints what the library computes, and refuses in one message."""

import pytest

from kgdash.studies.inspection.entity_roles import entity_roles
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import inspect_triple, what_beats
from kgdash.studies.inspection.verdict import verdict
from tests.support.cli import strict_json

NAMES = ("virus", "causes", "disease_or_syndrome")
SIDES = ("tail", "head", "relation")


@pytest.fixture
def run(bundled):
    return bundled("umls-distmult")


def ids(graph):
    head, relation, tail = NAMES
    return graph.entity_id(head), graph.relation_id(relation), graph.entity_id(tail)


def test_json(call, run):
    found = strict_json(call("inspect", "umls-distmult", *NAMES, "--json"))
    triple = InspectedTriple(*ids(run.graph))
    expected = inspect_triple(run, triple)
    assert (found["triple"], found["open"], found["known"]) == (list(NAMES), None, "train")
    assert found["verdict"] == verdict(expected)
    ranks = run.ranks(triples=triple.row, sides=SIDES).set_index("side")
    raw = run.ranks(triples=triple.row, sides=SIDES, filter="none").set_index("side")
    for side in SIDES:
        for key, table in (("ranks", ranks), ("raw_ranks", raw)):
            row = dict(found[key][side])
            row.pop("score")
            assert row == table.loc[side, list(row)].to_dict()
        top = found["top"][side]
        scores = [row["score"] for row in top]
        assert scores == sorted(scores, reverse=True)
        assert [row["rank"] for row in top] == list(range(1, 11))
        name = "relation" if side == "relation" else "entity"
        kinds = run.graph.relations if name == "relation" else run.graph.entities
        table = expected.sides[side].top(10)
        assert [row[name] for row in top] == [kinds[i] for i in table["id"]]
        assert [row["known"] for row in top] == table["known"].tolist()
    assert found["score"] == found["ranks"]["tail"]["score"]
    card = found["card"]
    assert card["side"] == "tail"
    figures = ["answer_set", "probability", "relik", "agreement", "reason"]
    assert list(card["figures"]) == figures
    assert card["figures"]["relik"]["values"]["relik"] == found["relik"]
    runs = card["figures"]["agreement"]["values"]["ranks"]
    assert runs["umls-distmult"] == found["ranks"]["tail"]["realistic"]
    relik = run.relik(triples=triple.row).iloc[0]
    for key in ("relik", "head_rank", "tail_rank"):
        assert found[key] == relik[key]


def test_what_beats_it(call, run):
    found = strict_json(call("inspect", "umls-distmult", *NAMES, "--json"))["better"]
    triple = InspectedTriple(*ids(run.graph))
    for side, better in what_beats(inspect_triple(run, triple)).items():
        shown = found[side]
        assert (shown["count"], shown["negatives"]) == (better.count, better.negatives)
        relations = better.relations().head(10)
        assert [row["count"] for row in shown["by_relation"]] == relations["count"].tolist()
        assert [row["relation"] for row in shown["by_relation"]] == [
            run.graph.relations[r] for r in relations["relation"]
        ]
        types = better.types(entity_roles(run.graph)).head(10)
        assert shown["by_type"] == types.to_dict("records")
        best = run.graph.with_names(better.best).to_dict("records")
        assert shown["best"] == best


@pytest.mark.parametrize(("place", "side"), [(0, "head"), (1, "relation"), (2, "tail")])
def test_an_open_side(call, place, side):
    names = list(NAMES)
    names[place] = "?"
    found = strict_json(call("inspect", "umls-distmult", *names, "--json", "--k", "3"))
    names[place] = None
    assert (found["triple"], found["open"]) == (names, side)
    assert list(found["top"]) == [side]
    assert len(found["top"][side]) == 3
    for key in ("score", "ranks", "raw_ranks", "relik", "head_rank", "tail_rank", "better", "card"):
        assert found[key] is None


def test_types_of_a_file(call, tmp_path):
    path = tmp_path / "types.tsv"
    path.write_text("virus\torganism\nhormone\tchemical\n")
    options = ["inspect", "umls-distmult", *NAMES, "--json", "--types", path]
    by_type = strict_json(call(*options))["better"]["head"]["by_type"]
    assert {row["type"] for row in by_type} <= {"organism", "chemical", "(no type)"}


def test_other_runs(call, bundled, run):
    options = ["inspect", "umls-distmult", *NAMES, "--json", "--with", "umls-rotate"]
    rows = strict_json(call(*options))["runs"]
    assert [row["run"] for row in rows] == ["umls-distmult", "umls-rotate"]
    triple = InspectedTriple(*ids(run.graph))
    assert rows[1]["relik"] == inspect_triple(bundled("umls-rotate"), triple).relik.value


def test_a_sample(call, run):
    found = strict_json(call("inspect", "umls-distmult", *NAMES, "--json", "--method", "sampled"))
    low, high = found["relik_interval"]
    exact = inspect_triple(run, InspectedTriple(*ids(run.graph))).relik.value
    assert low <= exact <= high
    assert found["better"] is None
    assert found["card"]["figures"]["relik"]["text"].startswith("≈ ")


def test_for_reading(call, run):
    text = call("inspect", "umls-distmult", *NAMES, "--k", "2")
    lines = text.splitlines()
    assert lines[0] == "virus — causes → disease_or_syndrome"
    assert lines[1].endswith("The model was trained on this fact, which flatters it.")
    assert lines[2] == verdict(inspect_triple(run, InspectedTriple(*ids(run.graph))))
    start = lines.index("Candidates for the tail")
    assert lines[start + 1].split("\t")[:4] == ["entity", "label", "score", "rank"]
    assert lines[start + 4] == ""


def test_a_configuration_file_says_the_same(call, tmp_path):
    path = tmp_path / "inspect.toml"
    first = call("inspect", "umls-distmult", *NAMES, "--json", "--k", "4", "--save-config", path)
    assert call("inspect", "--config", path) == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["viru", "causes", "virus"], "unknown entity 'viru' in graph"),
        (["virus", "cause", "virus"], "unknown relation 'cause' in graph"),
        (["?", "?", "virus"], "expected at most one open side"),
        ([*NAMES, "--k", "0"], "expected k from 1 to 100,000; found 0"),
        ([*NAMES, "--k", "1000000000"], "expected k from 1 to 100,000; found 1,000,000,000"),
        ([*NAMES, "--filter", "test"], "unknown filter 'test'"),
        ([*NAMES[:2], "?", "--with", "umls-transe"], "--with compares a whole triple"),
        ([*NAMES, *["--with", "not loaded"] * 101], "--with takes 100 runs at most; found 101"),
    ],
)
def test_refusals(refused, arguments, message):
    assert refused("inspect", "umls-distmult", *arguments).startswith(message)
