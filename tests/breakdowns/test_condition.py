"""Conditions against Python's own evaluation of the same text, row by row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.breakdowns.condition import NAMES, NUMBERS, Condition
from kgdash.breakdowns.rank_facts import RankFacts, annotate
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


FACTS = RankFacts(annotate(ranks(), GRAPH), GRAPH)


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


def expected(text: str) -> list[bool]:
    return [bool(eval(text, {"__builtins__": {}}, dict(row))) for row in ROWS]


@pytest.mark.parametrize(
    "text",
    [
        "head_degree >= 3",
        "tail_degree < 3 and side == 'head'",
        "3 > head_degree",
        "2 < optimistic <= 4",
        "5 >= realistic > 1.5",
        "answers in [1, 3]",
        "answers not in (1, 3)",
        "relation == 'r1'",
        "'r1' != relation",
        "head in ['e0', 'e3'] or tail == 'e2'",
        "head not in {'e0'}",
        "'0' in relation",
        "'0' not in relation and not candidates == 5",
        "not (frequency > 2 or equal_scores == 0)",
        "pessimistic != 3",
        "-1 < candidates",
        "relation in []",
        "side == 'tail' or side == 'head' and answers == 1",
    ],
)
def test_against_python(text):
    assert Condition(text).holds(FACTS).tolist() == expected(text)


numbers = st.tuples(
    st.sampled_from(["head_degree", "answers", "optimistic", "realistic", "equal_scores"]),
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.sampled_from(["0", "1", "2.5", "3", "-1"]),
).flatmap(lambda c: st.sampled_from([" ".join(c), f"{c[2]} {c[1]} {c[0]}"]))
names = st.tuples(
    st.sampled_from(["head", "relation", "tail", "side"]),
    st.sampled_from(["== 'e0'", "in ['r0', 'e3', 'head']", "!= 'r1'", "not in ('e1',)"]),
).map(" ".join)
texts = st.recursive(
    numbers | names,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda c: f"({c[0]} {c[1]} {c[2]})"
        )
        | inner.map(lambda text: f"not ({text})")
    ),
    max_leaves=6,
)


@given(texts)
def test_any_condition_against_python(text):
    assert Condition(text).holds(FACTS).tolist() == expected(text)


def test_labels_and_names_both_match():
    assert Condition("head == 'E3'").holds(FACTS).tolist() == expected("head == 'e3'")
    assert Condition("'E' in tail").holds(FACTS).all()


def test_kinds_are_those_of_the_annotated_table():
    for column in ("cardinality", "pattern"):
        for value in set(FACTS.ranks[column]):
            holds = Condition(f"{column} == {value!r}").holds(FACTS)
            assert holds.tolist() == (FACTS.ranks[column] == value).tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "can not be read"),
        ("head_degree >=", "can not be read at character"),
        ("head_degree", "compares nothing"),
        ("1 < 2", "compares two values"),
        ("head == tail", "compares two columns"),
        ("head_degre > 1", "unknown column 'head_degre'.*did you mean 'head_degree'"),
        ("head_degree > 'a'", "expected numbers"),
        ("head_degree == True", "expected a number or a name"),
        ("relation == 3", "expected names in quotes"),
        ("relation < 'r1'", "relation takes =="),
        ("relation in 'r1'", "relation takes =="),
        ("relation == ['r1']", "relation takes =="),
        ("3 in answers", "answers takes <"),
        ("answers < [3]", "answers takes <"),
        ("answers is 3", "can not compare"),
        ("answers in [1, 'a']", "expected numbers"),
        ("[1] in answers", "answers takes <"),
        ("__import__('os').system('true') == 1", "compares two values"),
        ("head.__class__ == 'x'", "compares two values"),
        ("(lambda: 1)() == answers", "expected a number or a name"),
        ("answers == 1 if 1 else 2", "compares nothing"),
        ("answers == 1 + 1", "expected a number or a name"),
        ("(answers := 3) == 3", "compares two values"),
        ("answers == -'a'", "expected a number or a name"),
        ("answers == 1\nanswers == 2", "can not be read"),
        ("answers == 1 and " * 2000 + "answers == 1", "at most"),
        ("not " * 200 + "answers == 1", "nested more than"),
        ("(" * 3000 + "answers == 1" + ")" * 3000, "can not be read"),
        ("answers == 1\0", "can not be read"),
    ],
    ids=range(29),
)
def test_refusals(text, told):
    with pytest.raises(KgdashError, match=told):
        Condition(text)


def test_every_column_can_be_asked():
    for column in NUMBERS:
        assert Condition(f"{column} >= 0").holds(FACTS).all()
    for column in NAMES:
        assert Condition(f"'' in {column}").holds(FACTS).all()
