"""Names are shown as they are written: no link, icon or arrow is read into one."""

import re

import pytest

from kgdash.ui.runtime.markdown import plain

#: what Streamlit's front end looks for in texts, after Markdown has taken the backslashes away
#: (mdast-util-gfm-autolink-literal, remark-emoji, and its own icons and signs)
READ = re.compile(
    r"(https?://|www(?=\.))[-.\w]+|[-.\w+]+@[-\w]+(\.[-\w]+)+|:[\w+-]+:|:material/|"
    r"(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "name",
    [
        "http://evil.example/x",
        "see HTTPS://evil.example",
        "(www.evil.example)",
        "WWW.evil.example",
        "a.b+c@evil.example",
        "mailto:a@evil.example",
        ":material/check_circle: verified",
        ":streamlit: :smile:",
        "a -> b <- c <-> d -- e >= f <= g ~= h",
        "->",
    ],
)
def test_nothing_is_read_into_a_name(name):
    assert READ.search(name)
    shown = re.sub(r"\\(.)", r"\1", plain(name))
    assert not READ.search(shown)
    assert shown.replace("\u2060", "") == name


@pytest.mark.parametrize("name", ["wd:Q42", "a@b", "--dataset", "x->y", "2026-11-22 18:00:01"])
def test_what_nothing_reads_is_left_alone(name):
    assert "\u2060" not in plain(name)


def test_no_name_turns_the_figures_beside_it():
    assert plain("\u202e19.0 is ReliK") == r"\\u202e19\.0 is ReliK"


def test_no_name_ends_its_line():
    """What follows would make it a heading, or code."""
    assert plain("a\n===\r\n\n    b") == "a === b"
