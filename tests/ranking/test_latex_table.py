"""The LaTeX table: its numbers, what is bold, and that names are printed letter by letter."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files.visible import visible
from kgdash.ranking.latex_table import latex_caption, latex_escape, latex_table
from kgdash.ranking.main_table import MAIN_METRICS, evaluated_text, main_table
from kgdash.ranking.metrics import metrics
from tests.support.fakes import fake_run, make_graph, random_scorer

#: what LaTeX prints for each command that may be in an escaped text
PRINTED = {
    "\\textbackslash{}": "\\",
    "\\textasciitilde{}": "~",
    "\\textasciicircum{}": "^",
    "\\textless{}": "<",
    "\\textgreater{}": ">",
    "\\textbar{}": "|",
    "\\textquotedbl{}": '"',
    "{[}": "[",
    "{]}": "]",
    "{*}": "*",
    "``": "“",
    "''": "”",
    **{f"\\{c}": c for c in "&%$#_{}"},
}


def printed(text: str) -> str:
    """Read escaped text as LaTeX does; anything that it would take for a command fails."""
    parts = re.split("(" + "|".join(map(re.escape, PRINTED)) + ")", text)
    plain = [PRINTED.get(part, part) for part in parts]
    assert not re.search(r"[\\&%$#_{}~^\[\]]", "".join(parts[::2])), text
    return "".join(plain)


def values_of(ranks: pd.DataFrame):
    return metrics(ranks, (1, 3, 10))


@pytest.fixture(scope="module")
def ranks():
    graph = make_graph([(0, 0, 1), (1, 0, 2), (2, 1, 3)], test=[(3, 0, 0), (1, 1, 0), (2, 0, 3)])
    return [fake_run(graph, random_scorer(4, 2, seed)).ranks() for seed in (1, 2)]


def cells(text: str) -> list[list[str]]:
    body = text.split("\\midrule")[1].split("\\bottomrule")[0]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix("\\\\"))]
        for line in body.strip().splitlines()
    ]


class TestMainTable:
    def test_rows_and_values(self, ranks):
        values = {f"run {n}": values_of(table) for n, table in enumerate(ranks)}
        table = main_table(values)
        assert list(table) == list(MAIN_METRICS)
        assert table.index.names == ["side", "ranks", "run"]
        assert len(table) == 3 * 3 * 2
        for (side, kind, run), row in table.iterrows():
            assert row.to_dict() == {k: values[run].value(k, side, kind) for k in MAIN_METRICS}
        assert table.index[:2].tolist() == [
            ("head", "optimistic", "run 0"),
            ("head", "optimistic", "run 1"),
        ]

    def test_only_some_sides_and_rank_types(self, ranks):
        values = values_of(ranks[0][ranks[0]["side"] == "tail"])
        table = main_table({"a": values}, ("pessimistic",))
        assert table.index.tolist() == [("tail", "pessimistic", "a")]

    @pytest.mark.parametrize(
        ("runs", "kinds", "message"),
        [
            ({}, ("realistic",), "at least one run"),
            ({"a": {}}, (), "at least one run and one rank type"),
            ({"a": {}}, ("optimist",), "unknown rank type 'optimist'.*did you mean 'optimistic'"),
        ],
    )
    def test_refusals(self, runs, kinds, message):
        with pytest.raises(KgdashError, match=message):
            main_table(runs, kinds)


class TestTable:
    def test_numbers_have_fixed_digits(self, ranks):
        values = values_of(ranks[0])
        rows = cells(latex_table(main_table({"a": values}), "x"))
        assert len(rows) == 9
        types = ["optimistic", "realistic", "pessimistic"]
        for number, row in enumerate(rows):
            side = ["head", "tail", "both"][number // 3]
            assert row[:2] == [side if number % 3 == 0 else "", types[number % 3]]
            expected = values.values(side, types[number % 3])
            for cell, key in zip(row[2:], MAIN_METRICS, strict=True):
                digits = 2 if key in ("arithmetic_mean_rank", "median_rank") else 3
                assert cell == f"{expected[key]:.{digits}f}"

    def test_other_digits_and_undefined_values(self, ranks):
        table = main_table({"a": values_of(ranks[0])}, ("realistic",))
        table.iloc[0, 0] = np.nan
        table.iloc[0, 1], table.iloc[0, 4] = 1 / 3, 1234.567
        row = cells(latex_table(table, "x", digits=1))[0]
        assert row[:3] == ["head", "--", "0.3"]
        assert row[5] == "1235"

    def test_the_best_of_several_are_bold_by_the_direction_of_the_metric(self, ranks):
        table = main_table({n: values_of(ranks[0]) for n in "abc"}, ("realistic",))
        table.loc[("head", "realistic", "a"), :] = 0.5
        table.loc[("head", "realistic", "b"), :] = 0.7
        table.loc[("head", "realistic", "c"), :] = 0.6
        table.loc[("head", "realistic", "c"), "hits_at_1"] = 0.7
        table.loc[("head", "realistic", "b"), "hits_at_3"] = np.nan
        rows = cells(latex_table(table, "x"))
        bold = {row[1]: [cell.startswith("\\textbf{") for cell in row[2:]] for row in rows[:3]}
        lower = ["arithmetic_mean_rank", "median_rank", "adjusted_arithmetic_mean_rank"]
        found = {
            name: [key for key, is_bold in zip(MAIN_METRICS, flags, strict=True) if is_bold]
            for name, flags in bold.items()
        }
        assert found["a"] == lower
        assert found["b"] == [key for key in MAIN_METRICS if key not in (*lower, "hits_at_3")]
        assert found["c"] == ["hits_at_1", "hits_at_3"]
        assert all(cell.startswith("\\textbf{") for row in rows[3:] for cell in row[2:]), "a tie"

    def test_runs_are_compared_within_a_side_and_a_rank_type(self, ranks):
        table = main_table({n: values_of(ranks[0]) for n in "ab"}, ("optimistic", "pessimistic"))
        table.loc[(slice(None), "optimistic", "a"), :] = 0.9
        table.loc[(slice(None), "optimistic", "b"), :] = 0.8
        table.loc[(slice(None), "pessimistic", "a"), :] = 0.3
        table.loc[(slice(None), "pessimistic", "b"), :] = 0.2
        mrr = [row[3] for row in cells(latex_table(table, "x"))]
        assert mrr == ["\\textbf{0.900}", "0.800", "\\textbf{0.300}", "0.200"] * 3

    def test_one_run_has_nothing_bold_and_no_column_of_its_name(self, ranks):
        text = latex_table(main_table({"a": values_of(ranks[0])}), "x")
        assert "textbf" not in text
        assert "\\begin{tabular}{llrrrrrrrr}" in text

    def test_frame(self, ranks):
        text = latex_table(main_table({"a": values_of(ranks[0])}, ("realistic",)), "50 % & more")
        lines = text.splitlines()
        assert lines[0] == "% \\usepackage{booktabs}"
        assert "\\caption{50 \\% \\& more}" in lines
        assert "\\label{tab:metrics}" in lines
        for opening in ("table", "tabular"):
            assert text.count(f"\\begin{{{opening}}}") == text.count(f"\\end{{{opening}}}") == 1
        heading = lines[lines.index("\\toprule") + 1]
        assert lines[lines.index("\\toprule") + 2] == "\\midrule"
        assert heading.count("\\uparrow") == 5
        assert heading.count("\\downarrow") == 3
        assert "Hits@10 $\\uparrow$" in heading
        assert "MR $\\downarrow$" in heading
        widths = {len(row) for row in cells(text)}
        assert widths == {heading.count("&") + 1} == {len(MAIN_METRICS) + 1}
        assert "multirow" not in text


class TestNames:
    @given(st.text())
    def test_every_text_is_printed_letter_by_letter(self, text):
        assert printed(latex_escape(text)) == visible(" ".join(text.split()))

    def test_what_tex_refuses_or_readers_turn_by_is_written(self):
        assert printed(latex_escape("a\x00\u202eb")) == r"a\x00\u202eb"

    def test_hostile_names_of_runs(self, ranks):
        names = [r"[50%] a_b & \input{/etc/passwd}", "*{x}^2~#$", "a\\\\\nb"]
        table = main_table({name: values_of(ranks[0]) for name in names}, ("realistic",))
        rows = cells(latex_table(table, "x"))
        assert [printed(row[1]) for row in rows[:3]] == [" ".join(n.split()) for n in names]
        assert {len(row) for row in rows} == {2 + len(MAIN_METRICS)}


class TestCaption:
    def test_one_run(self, ranks):
        table = main_table({"mine": values_of(ranks[0])}, ("realistic",))
        evaluated = evaluated_text("umls", "test", "train+valid", 1661, 135)
        assert latex_caption(table, evaluated) == (
            "Link prediction by mine on umls, test split: 1,661 triples, filtered by train+valid, "
            "135 candidate entities a side before filtering; realistic ranks; “both” pools the "
            "ranks of both sides."
        )

    def test_several_runs_and_rank_types_raw(self, ranks):
        table = main_table({n: values_of(ranks[0]) for n in "ab"})
        caption = latex_caption(table, evaluated_text("umls", "valid", "none", 1, 2))
        assert caption.startswith("Link prediction on umls, valid split: 1 triple, raw, 2 cand")
        assert "the best of each column in bold" in caption
        assert "realistic" not in caption
