"""Tables on pages: relations that are paths begin with their last part."""

import pandas as pd

from kgdash.ranking.glossary import explained
from kgdash.ui.widgets.table import number_columns, written


def test_relations_that_are_paths():
    table = pd.DataFrame({"head": ["/a/b/c"], "relation": ["/film/film/genre"], "count": [3]})
    assert written(table).to_dict("list") == {
        "head": ["/a/b/c"],
        "relation": ["genre · /film/film"],
        "count": [3],
    }
    assert table["relation"].tolist() == ["/film/film/genre"], "files keep the name"


def test_headings_are_explained():
    table = pd.DataFrame({"relik": [0.5], "n": [1], "p_holm": [0.1], "who": ["x"]})
    columns = number_columns(table, p_holm="p (Holm)")
    assert columns["relik"]["help"] == explained("ReliK")
    assert columns["p_holm"]["help"] == explained("Holm")
    assert columns["who"]["help"] is None


def test_counts_are_grouped_seeds_are_not_and_no_p_value_is_zero():
    table = pd.DataFrame({"triples": [12345], "walk_seed": [12345], "p": [0.0], "value": [0.0]})
    columns = number_columns(table)
    forms = {name: columns[name]["type_config"].get("format") for name in columns}
    assert forms == {"triples": "localized", "walk_seed": "%d", "p": None, "value": None}
    drawn = written(table).to_html(escape=False)
    assert [text in drawn for text in (">< 1e-300<", ">0.00<")] == [True, True]


def test_single_ranks_are_whole_and_small_floats_written_too():
    table = pd.DataFrame({"head_rank": [4.0, 1426.5, float("nan")], "mean_rank": [4.2, 3.0, 5.0]})
    table["score"] = pd.Series([1.23456, 2.0, 3.0], dtype="float32")
    drawn = written(table).to_html()
    for text in ("4", "1,426.5", "–", "4.20", "3.00", "1.23"):
        assert f">{text}<" in drawn


def test_floats_of_large_tables_have_three_digits_too():
    table = pd.DataFrame({"relik": [0.5] * 10_001, "n": 1})
    columns = number_columns(table)
    assert columns["relik"]["type_config"]["format"] == "%.3g"
