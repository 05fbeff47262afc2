"""The layer rule: an import never points to the left, and only the left knows Streamlit."""

import ast
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: from right to left: a module may import modules of its own layer and of those above this line.
#: A module that is in no row, or in two, fails the test: find its place.
LAYERS: list[tuple[str, tuple[str, ...]]] = [
    (
        "foundation",
        (
            "errors",
            "sizes",
            "progress",
            "known",
            "version",
            "whole_file",
            "text_files",
            "plain_pickle",
            "file_lock",
            "tables",
            "store",
        ),
    ),
    ("engine", ("memory", "engine", "engine.*")),
    ("graph", ("graph", "triple_files", "datasets", "restriction", "filter_guide", "entity_types")),
    ("scoring", ("scoring", "scoring.*", "model_spec", "models")),
    (
        "files of models",
        (
            "inert_pickle",
            "torch_archive",
            "pickled_modules",
            "pickled_structure",
            "pykeen_pickle",
            "pykeen_directory",
        ),
    ),
    ("own files", ("safe_format", "bundled", "search", "search.study_file", "search.importance")),
    (
        "tables",
        (
            "counting",
            "ranking",
            "metrics",
            "metric_guide",
            "fewer_candidates",
            "relik",
            "relik_sampled",
            "subgraphs",
            "relation_patterns",
            "ratio_metrics",
            "annotation",
            "groups",
            "conditions",
            "sidedness",
            "own_groupings",
            "breakdowns",
            "health",
            "health.sweep",
            "health.spread",
            "health.distribution",
            "health.ties",
            "health.missing",
            "health.summary",
            "health.checks",
            "main_table",
            "latex",
        ),
    ),
    ("runs", ("runs", "health.of_run", "saved_groupings", "obl2021", "obl2021_files")),
    (
        "making runs",
        (
            "loading",
            "training",
            "search.selection",
            "search.space",
            "search.study",
            "search.text",
            "search.trial",
            "",
        ),
    ),
    ("charts", ("charts", "charts.*", "figure_files")),
    ("studies", ("studies", "studies.*")),
    ("reports", ("named_charts", "report")),
    ("ui", ("ui", "ui.*")),
    ("ends", ("cli", "commands", "commands.*", "__main__", "pages.*", "app")),
]

#: what a module may not import, however right it stands
FORBIDDEN = {
    "charts": ("studies", "runs", "loading", "training", "streamlit"),
    "studies": ("charts", "streamlit"),
    "tables": ("pykeen.models", "streamlit"),
}

MAY_USE_STREAMLIT = ("ui", "ends")
MAY_NOT_BE_PART_OF_THE_APP = ("cli", "commands", "commands.*", "__main__")


def modules() -> dict[str, Path]:
    """Map module names, without "kgdash.", to their files."""
    found = {"app": ROOT / "app.py"}
    found |= {f"pages.{path.stem}": path for path in (ROOT / "pages").glob("*.py")}
    for path in (ROOT / "kgdash").rglob("*.py"):
        parts = path.relative_to(ROOT / "kgdash").with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__")] = path
    return found


MODULES = modules()


@cache
def imports(path: Path) -> set[str]:
    """List what a file imports at run time, anywhere in it, with kgdash's modules bare."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: relative import"
            # `from kgdash.scoring import protocol` names a module, `import Scorer` does not.
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {m for m in submodules if m.removeprefix("kgdash.") in MODULES}
            found.add(str(node.module))
    return {name.removeprefix("kgdash.") if name != "kgdash" else "" for name in found}


def places(module: str) -> list[int]:
    """List the layers that a module stands in."""
    return [
        number
        for number, (_, names) in enumerate(LAYERS)
        if any(fnmatch(module, name) for name in names)
    ]


def layer(module: str) -> str:
    return next((LAYERS[number][0] for number in places(module)), "")


def is_or_is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_has_one_place(module):
    assert len(places(module)) == 1, f"put {module or 'kgdash'} into one row of LAYERS"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_never_point_left(module):
    own = max(places(module), default=0)
    wrong = [
        other
        for other in imports(MODULES[module])
        if other in MODULES and other != module and max(places(other), default=0) > own
    ]
    assert not wrong, f"{module} ({LAYERS[own][0]}) imports {wrong}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_only_the_left_knows_streamlit(module):
    if layer(module) in MAY_USE_STREAMLIT and not any(
        fnmatch(module, name) for name in MAY_NOT_BE_PART_OF_THE_APP
    ):
        return
    assert not [name for name in imports(MODULES[module]) if is_or_is_in(name, "streamlit")]


@pytest.mark.parametrize("module", sorted(m for m in MODULES if layer(m) in FORBIDDEN))
def test_what_a_layer_must_not_know(module):
    wrong = [
        name
        for name in imports(MODULES[module])
        for forbidden in FORBIDDEN[layer(module)]
        if is_or_is_in(name, forbidden)
    ]
    assert not wrong, f"{module} imports {wrong}"


def test_no_cycles():
    """Within a layer imports may go both ways between files, but not in a circle."""
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " → ".join((*path, module))
        if module in done:
            return
        for other in imports(MODULES[module]):
            # A package's own file is imported with any of its parts; `kgdash` loads lazily.
            if other in MODULES and other and not module.startswith(other + "."):
                visit(other, (*path, module))
        done.add(module)

    for module in MODULES:
        visit(module, ())


def test_the_table_has_no_dead_rows():
    names = [name for _, layer_names in LAYERS for name in layer_names]
    assert not [n for n in names if not any(fnmatch(m, n) for m in MODULES)]


def test_imports_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(
        "import streamlit as st\nimport kgdash\nfrom kgdash.scoring import protocol, Scorer\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from kgdash.cli import app\n"
        "def f():\n    from kgdash.runs import Run\n"
    )
    assert imports(path) == {"streamlit", "", "scoring", "scoring.protocol", "typing", "runs"}


def test_what_takes_seconds_to_import_waits_until_it_is_needed():
    code = "import sys, kgdash.store, kgdash.cli; print(*{'torch', 'pykeen'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
