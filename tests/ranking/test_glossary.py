"""Each word has one text, and what shows a word takes it from there."""

import ast
import re

import pytest

from kgdash.ranking.glossary import _metric, explained, glossary_table, metric_text
from kgdash.ranking.metric_lookup import find_metric, metric_records
from kgdash.ranking.terms import TERMS
from tests.support.paths import ROOT

NAMES = [name for term in TERMS for name in (term.name, *term.also)]
PAGES = [*(ROOT / "kgdash" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]

#: put the glossary's text before what they are given
WIDGETS = {"choice", "choose_one", "choose_number", "show_card"}


def test_no_word_has_two_texts():
    folded = [name.casefold() for name in NAMES]
    assert len(folded) == len(set(folded))
    assert not [name for name in folded if _metric(name)], "metrics have records of their own"
    texts = [term.text for term in TERMS]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    "word",
    [
        *("ReliK", "MRR", "Hits@10", "Hits@7", "AMRI", "realistic", "optimistic", "pessimistic"),
        *("filtered", "sLCWA", "Holm", "community", "head rank", "tail rank", "relation rank"),
        *("separation AUC", "held-out", "negative", "easy answer", "hard answer", "interval"),
    ],
)
def test_the_words_that_pages_use_are_there(word):
    assert len(explained(word)) > 20


def test_a_label_is_explained_however_it_is_shown():
    relik = explained("ReliK")
    assert {explained(label) for label in ("Mean ReliK ↑", "relik", "Median ReliK ↑")} == {relik}
    assert explained("relik_head_rank") != explained("head_rank") == explained("Head rank ↓")
    mrr = metric_text(find_metric("mrr"))
    labels = ("Test MRR ↑", "Tail MRR ↑", "Mean reciprocal rank (MRR) ↑", "MRR, all groups")
    assert {explained(label) for label in labels} == {mrr}
    assert explained("Mean rank ↓") == metric_text(find_metric("mean rank"))
    assert explained("no such word") is None
    assert explained("no such word", "More.") == "More."
    assert explained("Split", "More.").endswith(" flatter it. More.")


def test_the_direction_is_that_of_the_metric():
    for metric in metric_records().values():
        text = metric_text(metric)
        better = re.search("(higher|lower) is better", text)
        found = {"higher": "↑", "lower": "↓"}[better[1]] if better else ""
        assert found == metric.arrow


def test_the_table_has_all_words():
    table = glossary_table()
    assert sorted(table["term"]) == sorted(term.name for term in TERMS)
    assert table["meaning"].str.endswith(".").all()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_page_has_a_text_of_its_own_for_a_word(path):
    calls = [
        call
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
    ]
    own = []
    for call in calls:
        about = next((key.value for key in call.keywords if key.arg == "help"), None)
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if about is None or called in WIDGETS or not isinstance(call.args[0].value, str):
            continue
        if explained(call.args[0].value) and "explained(" not in ast.unparse(about):
            own.append((call.lineno, call.args[0].value))
    assert not own
