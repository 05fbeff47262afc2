"""The command line: the library's numbers, and refusals that say one thing and leave nothing."""

import json
import logging
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import kgdash
from kgdash.files import table_cache as store
from kgdash.ranking.metrics import tie_summary
from kgdash.runs.bundled import bundled_names
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.likely_errors import plausible_missing_triples, suspicious_facts
from kgdash.studies.instances.separation import COMPARED, compare_measures
from kgdash.studies.instances.thresholds import judged_thresholds
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.local_verdict import local_estimates, local_verdict, whole_estimates
from kgdash.studies.rules.confidence import rule_confidence
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances
from tests.support.cli import run_cli, strict_json, without_nan
from tests.support.paths import EXAMPLE, ROOT
from tests.support.tiny_runs import altered_run, dataset_folder


@pytest.fixture(scope="module")
def run():
    return kgdash.load("umls-transe")


# Numbers


def test_runs(call):
    assert [row["name"] for row in strict_json(call("runs", "--json"))["runs"]] == bundled_names()
    assert all(name in call("runs") for name in bundled_names())


@pytest.mark.parametrize(
    ("options", "ranks", "ks"),
    [
        ([], {}, (1, 3, 5, 10)),
        (["--split", "valid"], {"split": "valid", "filter": "train+valid"}, (1, 3, 5, 10)),
        (["--filter", "none", "--k", "2", "--k", "50"], {"filter": "none"}, (2, 50)),
    ],
)
def test_metrics_json(call, run, options, ranks, ks):
    found = strict_json(call("metrics", "umls-transe", "--json", *options))
    table = run.ranks(**ranks)
    assert found["metrics"] == without_nan(kgdash.metrics(table, ks).nested())
    assert found["ties"] == tie_summary(table)
    assert (found["run"], found["notes"]) == ("umls-transe", [])
    assert set(found["metrics"]) == {"head", "tail", "both"}
    for types in found["metrics"].values():
        assert set(types) == {"optimistic", "realistic", "pessimistic"}


def test_metrics_table_on_screen_and_in_a_file(call, run, tmp_path):
    values = kgdash.metrics(run.ranks())
    rows = [line.split("\t") for line in call("metrics", "umls-transe").splitlines()]
    columns = [f"{side}.{rank_type}" for side, rank_type in values.frame.columns]
    assert rows[0] == ["metric", *columns]
    printed = {row[0]: [float(cell) for cell in row[1:]] for row in rows[1:]}
    assert printed == {key: row.tolist() for key, row in values.frame.iterrows()}
    call("metrics", "umls-transe", "--out", tmp_path / "deep" / "metrics.parquet")
    table = pd.read_parquet(tmp_path / "deep" / "metrics.parquet")
    assert table.index.tolist() == list(printed)
    assert table.columns.tolist() == columns
    assert table.to_numpy().tolist() == list(printed.values())


def assert_same_relik(found: pd.DataFrame, run, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        found, run.graph.with_names(expected), check_dtype=False, check_exact=True
    )


def test_relik_of_a_split(call, run, tmp_path):
    call("relik", "umls-transe", "--split", "test", "--out", tmp_path / "x.csv")
    found = pd.read_csv(tmp_path / "x.csv")
    assert list(found) == ["head", "relation", "tail", "head_rank", "tail_rank", "relik"]
    assert_same_relik(found, run, run.relik(split="test"))
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_relik_of_a_file(call, run, tmp_path):
    triples = [
        ("virus", "causes", "disease_or_syndrome"),
        ("age_group", "causes", "virus"),
        ("virus", "causes", "disease_or_syndrome"),
    ]
    graph = run.graph
    ids = np.array(
        [(graph.entity_id(h), graph.relation_id(r), graph.entity_id(t)) for h, r, t in triples]
    )
    (tmp_path / "mine.csv").write_text("head,relation,tail\n" + "\n".join(map(",".join, triples)))
    out = call(
        "relik", "umls-transe", "--triples", tmp_path / "mine.csv", "--rank-type", "realistic"
    )
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["head", "relation", "tail", "head_rank", "tail_rank", "relik"]
    assert [tuple(line[:3]) for line in lines[1:]] == triples
    expected = run.relik(triples=ids, rank_type="realistic")
    assert [float(line[5]) for line in lines[1:]] == expected["relik"].tolist()


def test_relik_by_another_method(call, run, tmp_path):
    options = ("--method", "sampled-paper", "--samples", 50, "--seed", 3)
    call("relik", "umls-transe", "--split", "valid", *options, "--out", tmp_path / "x.tsv")
    found = pd.read_csv(tmp_path / "x.tsv", sep="\t")
    assert_same_relik(found, run, run.relik("valid", method="sampled-paper", samples=50, seed=3))
    assert {"relik_low", "relik_high"} <= set(found)


@pytest.mark.parametrize(
    "command", [["metrics"], ["subgraph", "--entity", "virus"], ["breakdown", "--by", "relation"]]
)
def test_json_is_alone_on_standard_output_while_the_table_goes_to_a_file(call, command, tmp_path):
    name, *options = command
    table = call(name, "umls-transe", *options, "--out", tmp_path / "1.csv")
    assert table.startswith("wrote ")
    assert strict_json(call(name, "umls-transe", *options, "--json", "--out", tmp_path / "2.csv"))
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "subgraph", "comparison"),
    [
        (
            {"entity": "virus", "method": "neighbourhood", "hops": 2, "evaluated": "all"},
            {"entity": "virus", "method": "neighbourhood", "hops": 2},
            {"evaluated": "all"},
        ),
        (
            {"entity": "Bacterium", "size": 2, "relik-method": "sampled", "seed": 4},
            {"entity": "bacterium", "size": 2, "seed": 4},
            {"method": "sampled"},
        ),
    ],
)
def test_subgraph_json(call, run, options, subgraph, comparison):
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    found = strict_json(call("subgraph", "umls-transe", *flags, "--json"))
    part = run.subgraph(**subgraph)
    expected = compare(run, part, **comparison)
    figures = without_nan({name: list(pair) for name, pair in expected.means.items()})
    assert found["entities"] == [run.graph.entities[e] for e in part.entities]
    assert found["relik"] == figures["relik"][0]
    assert found["mrr"] == {
        side: figures[f"{side}_mrr"][0] for side in ("head", "tail", "both", "relation")
    }
    assert found["counts"] == {name: count for name, (_, count) in figures.items()}
    labelled = run.graph.with_names(expected.triples)
    assert found["triples"] == without_nan(labelled.to_dict("records"))
    estimates = local_estimates(expected)
    assert found["verdict"] == local_verdict(estimates, whole_estimates(run))
    assert found["intervals"] == without_nan({n: [e.low, e.high] for n, e in estimates.items()})


def test_what_is_not_defined_is_null(call, run):
    heads, _, tails = run.graph.all_triples.T
    lonely = min(set(range(run.graph.num_entities)) - set(heads[heads == tails].tolist()))
    entity = run.graph.entities[lonely]
    found = strict_json(call("subgraph", "umls-transe", "--entity", entity, "--size", 1, "--json"))
    assert found["relik"] is None
    assert set(found["mrr"].values()) == {None}
    assert found["triples"] == []


def test_subgraph_on_screen_and_in_a_file(call, run, tmp_path):
    figures = compare(run, run.subgraph("virus", size=20)).means
    out = call("subgraph", "umls-transe", "--entity", "virus", "--size", 20)
    assert f"relik          {figures['relik'][0]:.6g}  (n = {figures['relik'][1]})" in out
    call("subgraph", "umls-transe", "--entity", "virus", "--size", 20, "--out", tmp_path / "s.csv")
    assert pd.read_csv(tmp_path / "s.csv")["relik"].mean() == pytest.approx(figures["relik"][0])


def test_subgraph_on_a_terminal_shows_what_is_counted_so_far(monkeypatch, capsys, run):
    monkeypatch.setattr("kgdash.ranking.relik_table._LEAST", 135 * 46 * 80)
    monkeypatch.setattr("kgdash.files.row_table._LEAST", 1e-9)
    monkeypatch.setattr("kgdash.files.row_table._TIMES", 0)
    monkeypatch.setattr("kgdash.runs.loading.load", lambda *_: replace(run))
    arguments = ["subgraph", "umls-transe", "--entity", "virus", "--size", "60", "--json"]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, out, err = run_cli(monkeypatch, capsys, arguments)
    assert code == 0
    exact = compare(run, run.subgraph("virus", size=60))
    assert json.loads(out)["relik"] == exact.means["relik"].value
    assert re.search(r"mean ReliK between 0\.\d+ and 0\.\d+ \(95%\)", err)
    logging.disable(logging.NOTSET)


def test_subgraph_larger_than_the_component_says_how_many_were_reached(call, run):
    found = call("subgraph", "umls-transe", "--entity", "virus", "--size", 5000)
    reached = len(run.subgraph("virus", size=5000).entities)
    assert reached < 5000
    assert f"reached {reached} of 5000" in found


def expected_separation(run, instances, aggregate="max", over="all triples"):
    table = score_instances(run, instances).table
    found = compare_measures(table, COMPARED[over], aggregate, order="separation")
    return {m: without_nan(rows.to_dict("records")) for m, rows in found.by_measure.items()}


def test_queries(call, run, tmp_path):
    options = ("--type", "2i", "--type", "1p", "--per-type", 8, "--seed", 2)
    found = strict_json(call("queries", "umls-transe", *options, "--aggregate", "mean", "--json"))
    instances = sample_queries(run.graph, QuerySampling(("2i", "1p"), 8, seed=2))
    assert found["separation"] == expected_separation(run, instances, "mean")
    call("queries", "umls-transe", *options, "--out", tmp_path / "q.csv")
    table = score_instances(run, instances).table
    assert pd.read_csv(tmp_path / "q.csv")["relik_max"].tolist() == table["relik_max"].tolist()


def test_lists_to_check_and_all_figures_of_the_answering_triples(call, run, tmp_path):
    options = ["rules", "umls-transe", "--table", EXAMPLE, "--over", "answering triples"]
    files = ["--suspicious", tmp_path / "s.csv", "--plausible", tmp_path / "c.parquet"]
    found = strict_json(call(*options, *files, "--json"))
    instances = read_rule_table(EXAMPLE, run.graph)
    scored = score_instances(run, instances)
    assert found["separation"] == expected_separation(run, instances, over="answering triples")
    compared = compare_measures(scored.table, COMPARED["answering triples"], order="separation")
    assert found["differences"] == without_nan(compared.differences.to_dict("records"))
    judged = judged_thresholds(scored.table, "relik_answer")
    assert [row["n"] for row in found["thresholds"]["relik_answer"]] == judged["n"].tolist()
    suspicious = suspicious_facts(run.graph, scored)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "s.csv", keep_default_na=False), suspicious, check_dtype=False
    )
    confidence = rule_confidence(run.graph, scored.table["group"].unique())
    plausible = plausible_missing_triples(run.graph, scored, confidence)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "c.parquet"), plausible)
    assert "# differences of ROC-AUC" in call("rules", "umls-transe", "--table", EXAMPLE)


def test_rules(call, run):
    found = strict_json(call("rules", "umls-transe", "--max-rules", 2, "--per-rule", 5, "--json"))
    assert found["separation"] == expected_separation(
        run, find_instances(run.graph, RuleSelection(2, per_rule=5))
    )
    found = strict_json(call("rules", "umls-transe", "--table", EXAMPLE, "--json"))
    assert found["separation"] == expected_separation(run, read_rule_table(EXAMPLE, run.graph))
    out = call("rules", "umls-transe", "--table", EXAMPLE)
    assert out.startswith(f"# {found['verdict'][0]}\n")
    assert "\n# relik\ngroup\t" in out


# Runs of one's own


def test_import_gives_the_scores_of_the_pykeen_directory(call, pykeen_directory, tmp_path):
    call("import", pykeen_directory, tmp_path / "safe", "--dataset", "nations")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["safe"]
    assert not list((tmp_path / "safe").glob("*.pkl"))
    imported = kgdash.load(tmp_path / "safe")
    direct = kgdash.load(pykeen_directory, "nations")
    pd.testing.assert_frame_equal(imported.ranks(), direct.ranks())
    assert len(imported.training["losses"]) == 2
    original = torch.load(pykeen_directory / "trained_model.pkl", weights_only=False).eval()
    triples = torch.from_numpy(imported.graph.splits["test"])
    with torch.inference_mode():
        expected = original.predict_hrt(triples).squeeze(-1)
    assert torch.equal(imported.scorer.model.predict_hrt(triples).squeeze(-1), expected)


def test_commands_take_a_pykeen_directory_with_its_dataset(call, pykeen_directory):
    found = strict_json(call("metrics", pykeen_directory, "--dataset", "nations", "--json"))
    assert found["metrics"] == without_nan(
        kgdash.metrics(kgdash.load(pykeen_directory, "nations").ranks()).nested()
    )


def test_train(call, tmp_path):
    options = ("--dataset", "nations", "--model", "DistMult", "--dim", 4, "--epochs", 2)
    out = call("train", tmp_path / "mine", *options, "--seed", 1)
    assert f"wrote {tmp_path / 'mine'}" in out
    loaded = kgdash.load(tmp_path / "mine")
    assert (loaded.spec.name, loaded.spec.kwargs["embedding_dim"]) == ("DistMult", 4)
    assert len(loaded.training["losses"]) == 2
    mrr = kgdash.metrics(loaded.ranks()).value("mrr")
    assert f"{mrr:.4f}" in out
    call("train", tmp_path / "again", *options, "--seed", 1)
    assert kgdash.load(tmp_path / "again").weights_digest == loaded.weights_digest


class TestCache:
    @pytest.fixture(autouse=True)
    def _keep_all(self, monkeypatch):
        monkeypatch.setattr(store, "_WORTH_KEEPING", -1)

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
        pd.DataFrame({"a": [1]}).to_parquet(cache_folder / "x.parquet")
        (cache_folder / "notes.txt").write_text("mine")
        (row,) = json.loads(call("cache", "list", "--json"))["tables"]
        assert (row["key"], row["kind"], row["triples"]) == ("x", "unknown", None)
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
        start = filled["key"][1][:8]
        assert call("cache", "clear", "--key", start).startswith("deleted 1 tables")
        assert store.list_cache()["kind"].tolist() == ["ranks"]

    def test_refusals(self, refused):
        assert f"out of {', '.join(store.KINDS)}; found 'rank'" in refused(
            "cache", "clear", "--kind", "rank"
        )
        assert "expected a number of days; found -1" in refused("cache", "clear", "--older-than=-1")


# Refusals


def test_missing_directory(refused, tmp_path):
    assert "nothing" in refused("metrics", tmp_path / "nothing")
    assert "nothing" in refused("import", tmp_path / "nothing", tmp_path / "out")


def test_misspelt_run_is_told_the_nearest(refused):
    assert "did you mean 'umls-transe'" in refused("metrics", "umls-trans")


def test_pykeen_directory_without_its_dataset(refused, pykeen_directory):
    assert "--dataset" in refused("metrics", pykeen_directory)


def copy_with(pykeen_directory: Path, tmp_path: Path, model: bytes) -> Path:
    folder = tmp_path / "foreign"
    (folder / "training_triples").mkdir(parents=True)
    (folder / "trained_model.pkl").write_bytes(model)
    for path in (pykeen_directory / "training_triples").iterdir():
        (folder / "training_triples" / path.name).write_bytes(path.read_bytes())
    return folder


class MakesAFile:
    """What a hostile pickle would do when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize(("command", "archive"), [("metrics", True), ("import", False)])
def test_hostile_pickle_is_refused_and_does_not_run(
    refused, pykeen_directory, tmp_path, command, archive
):
    marker = tmp_path / "executed"
    torch.save({"model": MakesAFile(marker)}, tmp_path / "payload")
    content = (tmp_path / "payload").read_bytes()
    (tmp_path / "payload").unlink()
    content = content if archive else pickle.dumps({"model": MakesAFile(marker)})
    folder = copy_with(pykeen_directory, tmp_path, content)
    out = [tmp_path / "out"] if command == "import" else []
    assert "trained_model.pkl" in refused(command, folder, *out, "--dataset", "nations")
    assert not marker.exists()
    pickle.loads(pickle.dumps(MakesAFile(marker))).close()
    assert marker.exists(), "the payload would have worked"


def test_model_and_dataset_that_do_not_fit(refused, pykeen_directory, tmp_path):
    message = refused("import", pykeen_directory, tmp_path / "out", "--dataset", "umls")
    assert "14" in message
    assert "135" in message


def test_misspelt_dataset(refused, pykeen_directory):
    assert "did you mean 'nations'" in refused("metrics", pykeen_directory, "--dataset", "nation")


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("two.tsv", "virus\tcauses\n", "line 1"),
        ("unknown.tsv", "virus\tcauses\tvirusses\n", "did you mean 'virus'"),
    ],
)
def test_wrong_triples_file(refused, tmp_path, name, content, place):
    (tmp_path / name).write_text(content)
    out = tmp_path / "x.csv"
    message = refused("relik", "umls-transe", "--triples", tmp_path / name, "--out", out)
    assert name in message
    assert place in message


def test_missing_triples_file(refused, tmp_path):
    assert "nothing.tsv" in refused("relik", "umls-transe", "--triples", tmp_path / "nothing.tsv")


def test_empty_split(refused, call, tmp_path, run):
    data = dataset_folder(tmp_path / "data", train=run.graph.splits["train"][:200])
    options = ("--dataset", data, "--model", "TransE", "--dim", 4, "--epochs", 1)
    call("train", tmp_path / "mine", *options)
    for command in ("metrics", "relik"):
        assert "train (200)" in refused(command, tmp_path / "mine")
    assert "count" in call("metrics", tmp_path / "mine", "--split", "train")


def test_weights_that_are_not_numbers(refused, tmp_path):
    folder = altered_run(tmp_path / "nan", weights=lambda t: torch.full_like(t, torch.nan))
    message = refused("subgraph", folder, "--entity", "virus")
    assert "NaN" in message or "finite" in message


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (["metrics", "--k", 0], "0"),
        (["metrics", "--split", "dev"], "'dev'"),
        (["relik", "--split", "dev"], "'dev'"),
        (["relik", "--rank-type", "best"], "best"),
        (["subgraph", "--entity", "virusses"], "did you mean 'virus'"),
        (["subgraph", "--entity", "virus", "--restart", 1], "restart"),
        (["subgraph", "--entity", "virus", "--direction", "up"], "direction"),
        (["subgraph", "--entity", "virus", "--method", "neighbourhood", "--hops", 4], "hops"),
        (["queries", "--per-type", 0], "per type"),
        (["queries", "--hard", "very"], "very"),
        (["queries", "--over", "some triples"], "some triples"),
        (["queries", "--suspicious", "s.txt"], "s.txt"),
        (["rules", "--max-rules", 0], "rule"),
        (["rules", "--min-pca", 2], "2"),
        (["rules", "--seed", -1], "seed"),
        (["rules", "--table", "nothing.tsv"], "nothing.tsv"),
    ],
)
def test_arguments_out_of_range(refused, options, place):
    assert place in refused(options[0], "umls-transe", *options[1:])


def test_output_directory_exists(refused, pykeen_directory, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("precious")
    options = ("--dataset", "nations")
    assert "exists" in refused("import", pykeen_directory, tmp_path / "out", *options)
    assert "exists" in refused("train", tmp_path / "out", *options, "--model", "TransE")


@pytest.mark.parametrize("command", [["metrics"], ["relik"], ["subgraph", "--entity", "virus"]])
def test_unknown_extension_of_the_output(refused, tmp_path, command, monkeypatch):
    monkeypatch.setattr("kgdash.runs.loading.load", lambda *_: pytest.fail("refuse before working"))
    message = refused(command[0], "umls-transe", *command[1:], "--out", tmp_path / "x.xlsx")
    assert "x.xlsx" in message
    assert ".csv" in message


def test_output_that_can_not_be_written(refused, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "x.csv" in refused("metrics", "umls-transe", "--out", tmp_path / "file" / "x.csv")


def test_split_and_triples_together(refused, tmp_path):
    (tmp_path / "t.tsv").write_text("virus\tcauses\tvirus\n")
    options = ("--split", "test", "--triples", tmp_path / "t.tsv")
    assert "not both" in refused("relik", "umls-transe", *options)


def test_ctrl_c_says_that_nothing_was_written(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kgdash.runs.Run.relik", interrupted)
    arguments = ("relik", "umls-transe", "--out", tmp_path / "x.csv")
    code, out, err = run_cli(monkeypatch, capsys, arguments)
    assert (code, out) == (130, "")
    assert err.strip() == "kgdash: cancelled, nothing was written"
    assert not list(tmp_path.iterdir())


def test_as_a_process():
    command = [sys.executable, "-m", "kgdash", "metrics", "umls-trans"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("kgdash: unknown run 'umls-trans'")
    assert len(ended.stderr.splitlines()) == 1
