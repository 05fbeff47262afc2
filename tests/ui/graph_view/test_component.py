"""What the component sends is read with care, and all it needs is shipped."""

import re

import pytest

from kgdash.ui.graph_view.component import FOLDER, Selection, _item, scripts, selection_of
from tests.charts.test_graph_drawing import drawing


@pytest.mark.parametrize(
    ("item", "chosen"),
    [
        ({"kind": "node", "id": 7}, Selection(node=7)),
        ({"kind": "edge", "id": "3 0 7"}, Selection(rows=(1,))),
        ({"kind": "pair", "id": "7 3"}, Selection(rows=(0,))),
        ({"kind": "pair", "id": "3 3"}, Selection(rows=(2,))),
        (None, Selection()),
        ({"kind": "node", "id": 4}, Selection()),
        ({"kind": "edge", "id": "3 1 7"}, Selection()),
        ({"kind": "pair", "id": 3}, Selection()),
        ({"kind": "planet", "id": 7}, Selection()),
        ("node", Selection()),
    ],
)
def test_selection(item, chosen):
    assert selection_of(item, drawing()) == chosen


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("node 7", Selection(node=7)),
        ("edge 3 0 7", Selection(rows=(1,))),
        ("pair 7 3", Selection(rows=(0,))),
        ("node seven", Selection()),
        ("node 99999", Selection()),
        ("planet 7", Selection()),
        ("", Selection()),
    ],
)
def test_what_an_address_says_is_chosen(text, chosen):
    assert selection_of(_item(text), drawing()) == chosen


def test_a_number_of_thousands_of_digits_in_an_address_is_as_nothing():
    assert selection_of(_item("node " + "9" * 5000), drawing()) == Selection()


def test_who_asks_for_neighbours():
    assert selection_of(None, drawing(), 5) == Selection(expand=5)
    assert selection_of({"kind": "node", "id": 7}, drawing(), 4) == Selection(node=7)


def test_nothing_is_fetched_from_elsewhere():
    texts = [scripts(), *((FOLDER / f"view.{kind}").read_text("utf-8") for kind in ("html", "css"))]
    addresses = re.findall(r"https?://[^\"'`\s]+", "\n".join(texts))
    assert set(addresses) == {"http://www.w3.org/2000/svg"}
    assert "import(" not in scripts()
    assert len(scripts()) < 100_000
