"""What objects show in notebooks: text stays text, colours are the reader's."""

import re

import pandas as pd

from kgdash.files.html import escape, facts_html, table_html
from tests.support.report_page import read_page

HOSTILE = "<script>alert(1)</script>\"'&"
TURNED = "\u202e19.0 is the ReliK of\x00"
WRITTEN = r"\u202e19.0 is the ReliK of\x00"


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


def test_no_name_turns_the_figures_beside_it():
    facts = read_page(facts_html(TURNED, {TURNED: TURNED}, [TURNED]))
    assert facts.text == WRITTEN * 4
    assert read_page(table_html(TURNED, pd.DataFrame({TURNED: [TURNED]}))).text == WRITTEN * 3


def test_quotes_are_written_as_plotly_reads_them():
    text = """ "of" l'Aquila"""
    written = escape(text)
    assert read_page(f'<p title="{written}">{written}</p>').text == text
    # Of references by name Plotly's texts know these alone (convertEntities in plotly.js).
    names = set(re.findall(r"&([a-z]+);", escape(HOSTILE + text)))
    assert names <= {"mu", "amp", "lt", "gt", "nbsp", "times", "plusmn", "deg"}
