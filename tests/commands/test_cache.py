"""The command ``cache``: it lists the tables that are kept, and clears those that it is told to."""

import json

import numpy as np
import pandas as pd
import pytest

from kgdash.files import table_cache as store


@pytest.mark.own_cache
@pytest.mark.usefixtures("keep_all")
class TestCache:
    @pytest.fixture
    def filled(self, run):
        run.relik(split="test")
        run.ranks(split="valid", sides=["tail"])
        return store.list_cache()

    def test_empty(self, call, cache_folder):
        assert call("cache").startswith("0 tables, 0.0 of 2,048 MiB")
        assert call("cache", "list") == f"no tables in {cache_folder}\n"
        assert json.loads(call("cache", "list", "--json"))["tables"] == []
        assert call("cache", "clear").startswith("deleted 0 tables")
        assert call("cache", "path") == f"{cache_folder}\n"

    def test_list(self, call, run, filled, cache_folder):
        assert call("cache").startswith("2 tables, ")
        printed = call("cache", "list").splitlines()
        assert len(printed) == 3
        assert printed[1].split()[:3] == [filled["key"][0][:8], "ranks", "umls-transe"]
        listed = json.loads(call("cache", "list", "--json"))
        assert listed["directory"] == str(cache_folder)
        ranks, relik = listed["tables"]
        assert (ranks["kind"], ranks["filter"]) == ("ranks", "train+valid")
        assert (relik["kind"], relik["method"]) == ("relik", "exact")
        # Those are counted, too, that share a head or a tail with one asked for.
        heads, tails = (run.graph.splits["test"][:, column] for column in (0, 2))
        every = run.graph.all_triples
        counted = np.isin(every[:, 0], heads) | np.isin(every[:, 2], tails)
        assert relik["triples"] == counted.sum()
        assert relik["run_digest"] == run.digest
        assert pd.Timestamp(relik["created"]) == filled["created"][1]

    def test_files_of_others(self, call, cache_folder):
        pd.DataFrame({"a": [1]}).to_parquet(cache_folder / f"{'a' * 40}.parquet")
        (cache_folder / "notes.txt").write_text("mine")
        (row,) = json.loads(call("cache", "list", "--json"))["tables"]
        assert (row["key"], row["kind"], row["triples"]) == ("a" * 40, "unknown", None)
        assert row["created"] is None
        assert " - " in call("cache", "list").splitlines()[1]
        assert call("cache", "clear").startswith("deleted 1 tables")
        assert [p.name for p in cache_folder.iterdir()] == ["notes.txt"]

    @pytest.mark.parametrize(
        ("options", "left"),
        [
            (["--kind", "ranks"], ["relik"]),
            (["--run", "umls-rotate"], ["ranks", "relik"]),
            (["--run", "umls-transe", "--kind", "relik"], ["ranks"]),
            (["--older-than", "1"], ["ranks", "relik"]),
            (["--older-than", "0"], []),
            ([], []),
        ],
    )
    def test_clear(self, call, filled, options, left):
        assert call("cache", "clear", *options).startswith(f"deleted {2 - len(left)} tables")
        assert store.list_cache()["kind"].tolist() == left

    def test_clear_by_the_start_of_a_key(self, call, filled):
        assert call("cache", "clear", "--key", "none such").startswith("deleted 0 tables")
        assert call("cache", "clear", "--key", "").startswith("deleted 0 tables")
        start = filled["key"][1][:8]
        assert call("cache", "clear", "--key", start).startswith("deleted 1 tables")
        assert store.list_cache()["kind"].tolist() == ["ranks"]

    def test_refusals(self, refused):
        assert f"out of {', '.join(store.KINDS)}; found 'rank'" in refused(
            "cache", "clear", "--kind", "rank"
        )
        assert "expected a number of days; found -1" in refused("cache", "clear", "--older-than=-1")
