"""What pages make of their addresses: the widgets that keep choices there, and whole pages."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import torch
from streamlit.testing.v1 import AppTest

from kgdash.formats.run_directory import write_run
from kgdash.runs.bundled import FOLDER_CHOICE
from kgdash.scoring.model_spec import ModelSpec
from kgdash.ui.runtime.navigation import MENU
from tests.fuzz.mutation.address import change_address, parsed, written
from tests.fuzz.reader import Reader
from tests.fuzz.readers.graphs import GRAPH
from tests.support.app_tests import pages_declared, quick_app_tests
from tests.support.paths import ROOT


class PageError(Exception):
    """An exception that a page shows to its visitor."""


def _widgets() -> None:
    """Show every widget that takes its choice from the address."""
    import streamlit as st

    from kgdash.ui.correlation.study_form import choose_task
    from kgdash.ui.runtime.sidebar import lay_out_sidebar
    from kgdash.ui.subgraphs.form import choose_subgraph
    from kgdash.ui.widgets import choices
    from kgdash.ui.widgets.entity_choice import show_unknown_entity
    from tests.fuzz.readers.own_files import RUN

    lay_out_sidebar()
    split = choices.choose_split(RUN.graph)
    choices.choose_filter(split)
    choices.choose_rank_type()
    choices.choose_metric()
    choices.choose_side()
    choices.choose_view(["Table", "Map", "Groups"])
    choices.choose_resolution()
    choices.choose_number("Subgraphs", (2, 2000), 100, "subgraphs")
    choices.choice("Order", {"relation": "by relation", "size": "by size"}, "order")
    choose_task("Performance")
    choose_subgraph(RUN)
    show_unknown_entity("entity")
    st.toggle("Small", key="small", bind="query-params")


def _show_widgets(path: Path) -> None:
    _, parameters = parsed(path.read_bytes())
    with quick_app_tests():
        app = AppTest.from_function(_widgets, default_timeout=30)
        app.query_params.update(parameters)
        _checked(app.run())


@cache
def _small_run() -> str:
    """Write a run for this process and its children."""
    folder = Path(tempfile.mkdtemp(prefix="kgdash-fuzz-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    generator = torch.Generator().manual_seed(0)
    weights = {
        f"{kind}_representations.0._embeddings.weight": torch.randn(count, 4, generator=generator)
        for kind, count in (("entity", GRAPH.num_entities), ("relation", GRAPH.num_relations))
    }
    spec = ModelSpec("DistMult", {"embedding_dim": 4})
    return str(write_run(folder / "run", GRAPH, spec, weights, {"losses": [2.0, 1.0]}, {}))


def _addresses() -> list[bytes]:
    chosen = {"run": FOLDER_CHOICE, "folder": _small_run()}
    return [
        written(page, chosen | _choices(_opened(page, chosen)))
        for pages in MENU.values()
        for page in pages
    ]


def _choices(app: AppTest) -> dict[str, str]:
    """Return what a page keeps in its address, and what it has chosen there."""
    elements = [each for part in (app.main, app.sidebar) for each in part if hasattr(each, "value")]
    keys = [getattr(each.proto, "query_param_key", "") for each in elements]
    return {key: str(each.value) for key, each in zip(keys, elements, strict=True) if key}


def _opened(page: str, parameters: dict[str, str]) -> AppTest:
    with quick_app_tests(), pages_declared():
        app = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=60)
        app.query_params.update(parameters)
        return app.switch_page(f"pages/{page}.py").run()


def _show_page(path: Path) -> None:
    _checked(_opened(*parsed(path.read_bytes())))


def _checked(app: AppTest) -> None:
    if app.exception:
        raise PageError("\n".join((app.exception[0].message, *app.exception[0].stack_trace)))


READERS = (
    Reader(
        "widgets",
        lambda: [b"?split=valid&metric=mrr", b"?entity=e0&size=5&method=x"],
        _show_widgets,
        "case.txt",
        change_address,
    ),
    Reader(
        "pages",
        _addresses,
        _show_page,
        "case.txt",
        change_address,
        leaves=("data", "cache"),
        seconds=20,
    ),
)
