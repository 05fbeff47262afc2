"""Tables on pages: relations that are paths begin with their last part."""

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.elements.arrow import marshall
from streamlit.proto.ArrowData_pb2 import ArrowData

from kgdash.ranking.glossary import explained
from kgdash.statistics.estimate import number, p_value
from kgdash.ui.widgets import table as widgets
from kgdash.ui.widgets.table import number_columns, written


def test_relations_that_are_paths():
    table = pd.DataFrame({"head": ["/a/b/c"], "relation": ["/film/film/genre"], "count": [3]})
    assert written(table).to_dict("list") == {
        "head": ["/a/b/c"],
        "relation": ["genre · /film/film"],
        "count": [3],
    }
    assert table["relation"].tolist() == ["/film/film/genre"], "files keep the name"


def test_so_much_of_a_long_table_is_sent(monkeypatch):
    told = []
    monkeypatch.setattr(widgets.st, "caption", told.append)
    table = pd.DataFrame({"head": ["x" * 990] * 40_000, "count": range(40_000)})
    assert len(written(table.head(4_000))) == 4_000
    assert not told
    assert len(written(table)) == 2**22 // 998
    assert told == ["The first 4,202 of 40,000 rows; files hold all."]
    wide = table.assign(head="x" * 989 + "😀")  # four bytes a character in memory
    assert len(written(wide)) == 2**22 // (4 * 990 + 8)
    assert len(written(table.assign(head="x" * 10**5))) == 1_000


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
    assert _cells(written(table)).iloc[0].tolist() == ["12345", "12345", "< 1e-300", "0.00"]


def test_cells_are_written_as_pandas_writes_them():
    """Streamlit is sent what it would be by ``table.style.format``, whatever a column holds."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "value": [*random.lognormal(0, 8, 50), np.nan, np.inf, -np.inf, 0.0, 1.0, -12.5],
            "small": random.random(56).astype("float32"),
            "p": [*random.random(55), 0.0],
            "count": random.integers(0, 10**9, 56),
            "rank": pd.array([*range(55), None], dtype="Int64"),
            "known": random.random(56) < 0.5,
            "name": [*(f"<b>&{number}" for number in range(54)), None, ""],
        },
        index=range(7, 63),
    )
    forms = {"value": number, "small": number, "p": p_value}
    for shown in (table, table.assign(mixed=[1.5, *["x"] * 55]), table.assign(p=pd.Timestamp(0))):
        slow = shown.style.format(
            {c: f for c, f in forms.items() if c in shown.select_dtypes("floating")}, na_rep="–"
        )
        pd.testing.assert_frame_equal(_cells(written(shown)), _cells(slow))
        assert _sent(written(shown)).data == _sent(slow).data


def test_single_ranks_are_whole_and_small_floats_written_too():
    table = pd.DataFrame({"head_rank": [4.0, 1426.5, float("nan")], "mean_rank": [4.2, 3.0, 5.0]})
    table["score"] = pd.Series([1.23456, 2.0, 3.0], dtype="float32")
    drawn = _cells(written(table))
    assert drawn.to_numpy().T.tolist() == [
        ["4", "1,426.5", "–"],
        ["4.20", "3.00", "5.00"],
        ["1.23", "2.00", "3.00"],
    ]


def test_shares_are_percentages_and_so_are_their_ends():
    shares = pd.DataFrame({"coverage": [0.9584], "low": [0.9], "median_size": [4.0], "size": [4.0]})
    assert _cells(written(shares)).iloc[0].tolist() == ["95.8%", "90.0%", "4", "4.00"]
    assert _cells(written(shares[["low"]])).iloc[0].tolist() == ["0.900"], "of what is no share"


def test_rows_put_together_are_written_too():
    part = pd.DataFrame({"score": [-2.3398]})
    assert _cells(written(pd.concat([part, part])))["score"].tolist() == ["-2.34", "-2.34"]


def test_floats_of_large_tables_have_three_digits_too():
    table = pd.DataFrame({"relik": [0.5] * 10_001, "n": 1})
    columns = number_columns(table)
    assert columns["relik"]["type_config"]["format"] == "%.3g"


def _cells(styler: Styler) -> pd.DataFrame:
    """Return the texts that Streamlit sends to the browser."""
    sent = _sent(styler)
    assert not sent.styler.styles
    return convert_arrow_bytes_to_pandas_df(sent.styler.display_values)


def _sent(styler: Styler) -> ArrowData:
    proto = ArrowData()
    marshall(proto, styler, "uuid")
    return proto
