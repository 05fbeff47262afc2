"""What is noted of whoever computes."""

import os
import platform
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from kgdash.files.provenance import command, libraries, machine, provenance
from kgdash.files.table_cache import cached_table, list_cache, replace_table


def test_versions_are_those_that_compute():
    assert f"numpy {np.__version__}" in libraries()
    assert f"torch {torch.__version__.partition('+')[0]}" in libraries()
    assert libraries().startswith(f"Python {platform.python_version()},")


def test_the_machine_names_its_cores():
    assert machine().endswith(f"{os.cpu_count()} cores")


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["/usr/bin/kgdash", "relik", "umls-transe"], "kgdash relik umls-transe"),
        (["/x/kgdash/__main__.py", "relik", "/home/ann/my-run"], "kgdash relik my-run"),
        (["kgdash", "ranks", "--triples=/home/ann/x.tsv"], "kgdash ranks x.tsv"),
        (["/usr/bin/streamlit", "run", "/home/ann/app.py"], "dashboard"),
        (["/x/streamlit/__main__.py", "run", "app.py"], "dashboard"),
        (["study.py", "--secret"], "Python"),
        ([], "Python"),
    ],
)
def test_the_command_names_no_folder(monkeypatch, argv, shown):
    monkeypatch.setattr(sys, "argv", argv)
    assert command() == shown


def test_a_stored_table_tells_it(keep_all):
    table = pd.DataFrame({"x": [1]})
    cached_table({"graph": "f" * 64, "seed": 7}, lambda: table, {"kind": "rules"})
    replace_table({"a": 1}, table, {"kind": "study", "graph_digest": "e" * 64, "seed": 3})
    listed = list_cache().set_index("kind")
    for name, value in provenance().items():
        assert set(listed[name]) == {value}
    assert listed["seed"].to_dict() == {"rules": 7, "study": 3}
    assert listed["graph_digest"].to_dict() == {"rules": "f" * 64, "study": "e" * 64}
