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
