"""What objects show in notebooks: text stays text, colours are the reader's."""

import pandas as pd

from kgdash.files.html import facts_html, table_html
from tests.support.report_page import read_page

HOSTILE = "<script>alert(1)</script>\"'&"


def test_facts():
    html = facts_html(HOSTILE, {HOSTILE: HOSTILE, "count": 3}, [HOSTILE])
    page = read_page(html)
    assert not page.scripts
    assert page.text == HOSTILE * 3 + "count3" + HOSTILE
    assert "color" not in html


def test_table():
    html = table_html("Values", pd.DataFrame({HOSTILE: ["a", HOSTILE], "n": ["1", "2"]}))
    page = read_page(html)
    assert not page.scripts
    assert page.text == f"Values{HOSTILE}na1{HOSTILE}2"
    assert page.tags.count("tr") == 3
    assert page.tags.count("th") == 2
    assert "color" not in html
