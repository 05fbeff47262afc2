"""Conditions against Python's own evaluation, rank by rank."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.breakdowns.condition import NUMBERS, Condition, operators_of
from kgdash.breakdowns.rank_facts import RankFacts, add_rank_facts
from kgdash.errors import KgdashError
from tests.support.fakes import make_graph

GRAPH = make_graph(
    [(0, 0, 1), (0, 0, 2), (0, 1, 3), (1, 1, 0), (2, 1, 3)],
    test=[(0, 0, 3), (1, 0, 2), (3, 1, 0)],
    entities=5,
)


def ranks() -> pd.DataFrame:
    test = GRAPH.split("test")
    table = pd.DataFrame(np.concatenate([test, test]), columns=["head", "relation", "tail"])
    table["side"] = ["head"] * 3 + ["tail"] * 3
    table["optimistic"] = [1, 2, 3, 4, 5, 1]
    table["pessimistic"] = [1, 3, 3, 7, 5, 2]
    table["realistic"] = (table["optimistic"] + table["pessimistic"]) / 2
    table["candidates"] = [5, 4, 3, 2, 5, 4]
    return table


FACTS = RankFacts(add_rank_facts(ranks(), GRAPH), GRAPH)


def rows() -> list[dict]:
    """Return what Python's own evaluation sees of each rank, worked out by plain counting."""
    train, facts = GRAPH.splits["train"].tolist(), GRAPH.all_triples.tolist()
    found = []
    for row in ranks().to_dict("records"):
        h, r, t = row["head"], row["relation"], row["tail"]
        answers = [f for f in facts if f[1] == r and (f[0] == h or row["side"] == "head")]
        answers = [f for f in answers if f[2] == t or row["side"] == "tail"]
        row |= {
            "head_degree": sum(h in (a, c) for a, _, c in train),
            "tail_degree": sum(t in (a, c) for a, _, c in train),
            "frequency": sum(b == r for _, b, _ in train),
            "answers": len(answers),
            "equal_scores": row["pessimistic"] - row["optimistic"],
            "head": f"e{h}",
            "relation": f"r{r}",
            "tail": f"e{t}",
        }
        found.append(row)
    return found


ROWS = rows()


def python(column: str, way: str, value: str) -> str:
    """Write a row as Python does."""
    if column in NUMBERS:
        return f"{column} {way} {value}"
    if way == "in":
        return f"{column} in {value.split('|')!r}"
    return f"{value!r} in {column}" if way == "contains" else f"{column} {way} {value!r}"


def expected(column: str, way: str, value: str) -> list[bool]:
    text = python(column, way, value)
    return [bool(eval(text, {"__builtins__": {}}, dict(row))) for row in ROWS]


@pytest.mark.parametrize("value", ["0", "1", "2.5", "3", "-1", "1e9"])
@pytest.mark.parametrize("column", NUMBERS)
def test_numbers_against_python(column, value):
    for way in operators_of(column):
        assert Condition(column, way, value).holds(FACTS).tolist() == expected(column, way, value)
        found = Condition.parse(f" {column}  {way} {value} ")
        assert found == Condition(column, way, value) == Condition(*row_of(found))


def row_of(condition: Condition) -> tuple:
    return condition.column, condition.operator, condition.value


@pytest.mark.parametrize(
    ("column", "way", "value"),
    [
        ("relation", "==", "r1"),
        ("relation", "!=", "r1"),
        ("head", "in", "e0|e3"),
        ("tail", "in", "e2"),
        ("head", "!=", "e0"),
        ("relation", "contains", "0"),
        ("head", "contains", "nothing"),
        ("side", "==", "tail"),
        ("side", "in", "head|tail"),
    ],
)
def test_names_against_python(column, way, value):
    assert Condition(column, way, value).holds(FACTS).tolist() == expected(column, way, value)
    for quote in ("", "'", '"'):
        text = f"{column} {way} {quote}{value}{quote}"
        assert Condition.parse(text) == Condition(column, way, value)
    assert Condition(column, way, value).text == f"{column} {way} {value}"


def test_labels_and_names_both_match():
    assert Condition("head", "==", "E3").holds(FACTS).tolist() == expected("head", "==", "e3")
    assert Condition("tail", "contains", "E").holds(FACTS).all()
    assert Condition("head", "in", " E3 | e0 ").holds(FACTS).tolist() == expected(
        "head", "in", "e3|e0"
    )


def test_a_name_goes_before_another_s_label():
    """Years and numbers are both: rows of two entities were counted as one's."""
    graph = replace(GRAPH, entity_labels=("x", "e0", *GRAPH.entity_labels[2:]))
    facts = RankFacts(add_rank_facts(ranks(), graph), graph)
    for way, value in (("==", "e0"), ("!=", "e0"), ("in", "e0|e3")):
        holds = Condition("head", way, value).holds(facts)
        assert holds.tolist() == expected("head", way, value)


def test_names_may_hold_blanks_and_apostrophes():
    assert Condition.parse("head == Alzheimer's disease").value == "Alzheimer's disease"


def test_kinds_are_those_of_the_annotated_table():
    for column in ("cardinality", "pattern"):
        for value in set(FACTS.ranks[column]):
            holds = Condition(column, "==", value).holds(FACTS)
            assert holds.tolist() == (FACTS.ranks[column] == value).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected column, operator and value"),
        ("head_degree >=", "expected column, operator and value"),
        ("head_degree>=3", "expected column, operator and value"),
        ("head_degre > 1", "unknown column 'head_degre'.*did you mean 'head_degree'"),
        ("head_degree > a", "compared with a number"),
        ("head_degree > 1 and answers < 3", "compared with a number.*one row for each condition"),
        ("2 < optimistic <= 4", "unknown column '2'"),
        ("relation < r1", "relation can not be compared by '<'; it takes ==, !=, in, contains"),
        ("answers in 1|3", "answers can not be compared by 'in'"),
        ("side == 'tail' or side == 'head'", "expected one value"),
        ("side == 'tail' and answers == 1", "expected one value"),
        ("relation == '", "expected one value"),
        ("__import__('os').system('true') == 1", "unknown column"),
        ("not side == 'tail'", "unknown column 'not'"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(KgdashError, match=message):
        Condition.parse(text)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("relation", "==", "r7"), "unknown relation 'r7' in condition 'relation == r7'"),
        (("side", "in", "tail|heads"), "unknown side 'heads'.*did you mean 'head'"),
        (("pattern", "!=", "odd"), "unknown pattern 'odd'"),
    ],
)
def test_names_that_there_are_not(row, message):
    with pytest.raises(KgdashError, match=message):
        Condition(*row).holds(FACTS)
