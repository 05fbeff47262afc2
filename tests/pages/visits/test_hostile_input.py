"""Names in strangers' files are shown as they are written, and no address breaks a page."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from kgdash.breakdowns.custom_grouping import TypeGrouping
from kgdash.files import event_log
from kgdash.formats.run_directory import read_run, write_run
from kgdash.graph.entity_types import EntityTypes
from kgdash.runs.bundled import DEMO, FOLDER_CHOICE
from kgdash.runs.loading import load
from kgdash.runs.saved_groupings import save_grouping
from kgdash.scoring.model_spec import ModelSpec
from kgdash.ui.inspection.deeper import VIEWS
from kgdash.ui.runtime.navigation import MENU
from tests.pages.driver import open_page
from tests.support.fakes import make_graph
from tests.support.paths import ROOT

ENTITIES, RELATIONS = 8, 2

HOSTILE = (
    "![x](http://evil.example/i.png) [y](javascript:0) http://evil.example :red[z] **b** $x$ "
    "<img src=//evil.example> www.evil.example a@evil.example :material/skull: :smile: -> "
)

#: what of it Markdown or Streamlit would read, unless a backslash stands before
READ = re.compile(
    r"(?<!\\)(!\[x\]|\]\((http|javascript)|:red\[z|\*\*b\*\*|\$x\$|<img)"
    # and what the front end reads in texts that are escaped already
    r"|http\\?:\\?/|www\\?\.|a@evil|:\\?material/skull|:\\?smile| \\?-\\?> "
)

#: what is shown as it is, those of a radio apart: choices, tables, charts, code
AS_IT_IS = {"options", "value", "default", "raw_value", "raw_values", "data", "spec", "columns"}
AS_IT_IS |= {"arrow_data", "figure", "placeholder", "id", "url", "file_name", "code_text", "json"}
AS_IT_IS |= {"mixed", "js_content", "html_content", "css_content"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Write a run all of whose names are hostile."""
    rng = np.random.default_rng(0)
    train = np.unique(rng.integers(0, [ENTITIES, RELATIONS, ENTITIES], (30, 3)), axis=0)
    rng.shuffle(train)
    graph = make_graph(train[6:], train[:3], train[3:6], ENTITIES, RELATIONS)
    graph = replace(
        graph,
        name=HOSTILE,
        entity_labels=tuple(f"{HOSTILE} {i}" for i in range(ENTITIES)),
        relation_labels=tuple(f"{HOSTILE} {i}" for i in range(RELATIONS)),
        left_out={"test": 3},
    )
    weights = {
        "entity_representations.0._embeddings.weight": torch.randn(ENTITIES, 4),
        "relation_representations.0._embeddings.weight": torch.randn(RELATIONS, 4),
    }
    folder = tmp_path_factory.mktemp("hostile") / "[y](javascript:0) :red[z]"
    said = {"losses": [2.0, 1.5], "notes": [HOSTILE]}
    spec = ModelSpec("DistMult", {"embedding_dim": 4})
    write_run(folder, graph, spec, weights, said, {"form": HOSTILE, "notes": [HOSTILE]})
    types = EntityTypes((HOSTILE,), np.arange(ENTITIES), np.zeros(ENTITIES, dtype=np.int64))
    save_grouping(load(folder), TypeGrouping(HOSTILE[:51], "tail", types))
    return folder


def texts(message) -> list[tuple[str, str]]:
    """Go through the texts of a message of Streamlit's that it may read, with their place."""
    found = []
    for field, value in message.ListFields():
        if field.name in AS_IT_IS and field.full_name != "Radio.options":
            continue
        values = value if field.is_repeated else [value]
        for each in values:
            if field.full_name == "Html.body":
                found.append((field.full_name, "".join(re.findall("<img", each))))
            elif isinstance(each, str):
                found.append((field.full_name, each))
            elif hasattr(each, "ListFields"):
                found += texts(each)
    return found


def all_texts(app) -> list[tuple[str, str]]:
    blocks = [app.main, app.sidebar]
    found = []
    while blocks:
        block = blocks.pop()
        blocks += getattr(block, "children", {}).values()
        if getattr(block, "proto", None) is not None:
            found += texts(block.proto)
    return found


def read_as_markup(app) -> list[tuple[str, str]]:
    return [pair for pair in all_texts(app) if READ.search(pair[1])]


@pytest.mark.parametrize("page", [page for pages in MENU.values() for page in pages])
def test_no_page_reads_a_name(hostile, page):
    app = open_page(page, run=FOLDER_CHOICE, folder=str(hostile))
    assert app.title or app.error
    assert read_as_markup(app) == []


@pytest.mark.parametrize("view", VIEWS)
def test_nor_does_a_view_of_inspect(hostile, view):
    triple = {"head": "e1", "relation": "r0", "tail": "e2"}
    app = open_page("inspect", run=FOLDER_CHOICE, folder=str(hostile), look_at=view, **triple)
    assert app.get_by_key("look_at").value == view
    assert read_as_markup(app) == []


def test_nor_do_choices_among_names(hostile):
    app = open_page("local", run=FOLDER_CHOICE, folder=str(hostile), entity="evil.example")
    assert len(app.radio(key="entity_among").options) == ENTITIES
    assert read_as_markup(app) == []


@pytest.mark.parametrize("page", [page for pages in MENU.values() for page in pages])
def test_the_log_holds_no_name(hostile, page, tmp_path, monkeypatch):
    monkeypatch.setenv(event_log.SETTING, str(tmp_path / "log"))
    open_page(page, run=FOLDER_CHOICE, folder=str(hostile), entity=f"{HOSTILE} 1", dataset=HOSTILE)
    open_page(page, run=FOLDER_CHOICE, folder=str(hostile), entity=f"{HOSTILE} 1")
    event_log._handlers.pop(str(tmp_path / "log")).close()
    text = (tmp_path / "log").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["page"] for line in lines if line["event"] == "page"].count(page) == 2
    # The refused dataset; a page may refuse more.
    assert "KgdashError" in {line.get("error") for line in lines}
    assert not re.findall("evil|javascript|http|img|src|:red", text)
    assert str(hostile.parent) not in text


@pytest.mark.parametrize("page", ["overview", "compare", "model_selection", "queries", "runs"])
@pytest.mark.parametrize("parameter", ["folder", "folders", "study_file", "queries_file", "entity"])
def test_no_address_is_read(page, parameter):
    chosen = {"run": FOLDER_CHOICE} if parameter == "folder" else {}
    app = open_page(page, **chosen, **{parameter: HOSTILE})
    assert not read_as_markup(app)


#: the parameters of all pages, and other words that mean nothing in an address
PARAMETERS = {
    key
    for folder in ("kgdash/ui", "pages")
    for path in (ROOT / folder).rglob("*.py")
    for key in re.findall(r'"([a-z_0-9]{2,30})"', path.read_text(encoding="utf-8"))
} - {"run", "folder", "dataset", "page"}


@pytest.mark.parametrize("value", ["1e400", "x" * 300, "\0"])
@pytest.mark.parametrize("page", [page for pages in MENU.values() for page in pages])
def test_addresses_by_hand(hostile, page, value):
    chosen = dict.fromkeys(PARAMETERS, value)
    app = open_page(page, run=FOLDER_CHOICE, folder=str(hostile), **chosen)
    assert app.title or app.error or app.info


@pytest.mark.parametrize("folder", ["x" * 300, "a\0b", "/dev/null", "/proc/self/mem"])
def test_folders_by_hand(folder):
    app = open_page("metric_guide", run=FOLDER_CHOICE, folder=folder)
    assert len(app.error) == 1


def test_no_run_lends_its_names_to_another_of_the_same_weights(tmp_path):
    def written(folder: str, called: str):
        graph, spec, weights, manifest = read_run(DEMO / "umls-transe")
        labels = tuple(f"{called}~ {name}" for name in graph.entities)
        graph = replace(graph, entity_labels=labels)
        return write_run(tmp_path / folder / "same", graph, spec, weights, manifest["training"], {})

    for called in ("first", "second"):
        folder = written(called, called)
        app = open_page("overview", run=FOLDER_CHOICE, folder=str(folder))
        read = "\n".join(text for _, text in all_texts(app))
        assert f"{called}\\~ " in read
        assert called == "first" or "first\\~" not in read


@pytest.mark.parametrize(
    ("page", "key"),
    [(page, key) for page in ("agreement", "probabilities") for key in ("by", "hit_at", "margin")],
)
def test_an_empty_choice_in_an_address_is_none(page, key):
    app = open_page(page, run="umls-transe", **{key: ""})
    assert not app.exception
    assert app.title[0].value


@pytest.mark.parametrize("page", ["inspect", "agreement"])
def test_a_damaged_run_ends_no_page_of_others(page, tmp_path, monkeypatch):
    monkeypatch.setenv("KGDASH_RUNS", str(tmp_path / "runs"))
    shutil.copytree(DEMO / "umls-transe", tmp_path / "runs" / "mine")
    (tmp_path / "runs" / "mine" / "weights.safetensors").write_bytes(b"x")
    app = open_page(page, run="umls-transe")
    assert not app.exception
    assert not app.error
