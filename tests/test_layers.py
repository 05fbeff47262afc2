"""The layer rule: an import never points to the left, and only the left knows Streamlit."""

from __future__ import annotations

import ast
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT

#: from right to left: a module may import modules of its own row and of those above it.
LAYERS = (
    "errors progress version accessors",
    "files*",
    "statistics* serving*",
    "graph*",
    "engine*",
    "scoring*",
    "learning*",
    "formats*",
    "ranking*",
    "breakdowns*",
    "runs*",
    "health* hpo*",
    "charts*",
    "studies studies.instances* studies.classification* studies.obl2021* studies.inspection*",
    "studies.queries* studies.rules* studies.reliability* studies.probability*",
    "studies.discovery*",
    "studies.labelling* studies.comparison* studies.explanations*",
    "studies.protocols*",
    "studies.agreement* studies.trust*",
    "studies.correlation* studies.overview*",
    "studies.audit*",
    "reports*",
    "ui ui.runtime*",
    "ui.widgets*",
    "ui.[!rw]*",
    "kgdash cli commands* __main__ app dashboard pages.*",
)

#: what modules may not import, however right they stand
FORBIDDEN = {
    "charts*": ("studies", "runs", "streamlit"),
    "studies*": ("charts",),
    "ranking*": ("pykeen.models",),
    "breakdowns*": ("pykeen.models",),
}

#: work that pages do in the server's own threads, by label: all other is a `Call`, which goes on in
#: a worker process if it takes long, where it has its turn, and its memory a bound
IN_THREADS = {
    "Looking for runs": "of those that the visitor may open",
    "Sorting entities": "by the visitor's own groupings",
    "Finding instances": "a Call, as the forms make it",
    "Mining rules": "a Call, as the form makes it",
    "Writing the report": "a Call, as who offers it gives it",
}

#: what pages have computed by, and what is computed beside them
COMPUTING, CALLS = ("computed", "try_computing", "refined"), ("Call", "Reading")

#: the only ones that know Streamlit
PAGES = ("ui*", "pages.*", "app", "dashboard")


def modules() -> dict[str, Path]:
    """Map module names, without "kgdash.", to their files."""
    found = {name: ROOT / f"{name}.py" for name in ("app", "dashboard")}
    found |= {f"pages.{path.stem}": path for path in (ROOT / "pages").glob("*.py")}
    for path in (ROOT / "kgdash").rglob("*.py"):
        parts = path.relative_to(ROOT / "kgdash").with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__") or "kgdash"] = path
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
    return {name.removeprefix("kgdash.") for name in found}


def place(module: str) -> int:
    """Return the row of a module in LAYERS.

    :raises AssertionError: unless it stands in exactly one
    """
    rows = [i for i, row in enumerate(LAYERS) if any(fnmatch(module, g) for g in row.split())]
    assert len(rows) == 1, f"{module} stands in {len(rows)} rows of LAYERS"
    return rows[0]


def within(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch(name, g) for g in globs)


def test_every_module_has_one_place_and_every_row_a_module():
    rows = {place(module) for module in MODULES}
    assert rows == set(range(len(LAYERS)))


def test_imports_never_point_left():
    wrong = [
        f"{module} imports {other}"
        for module, path in MODULES.items()
        for other in imports(path)
        if other in MODULES and place(other) > place(module)
    ]
    assert not wrong


def test_nobody_imports_what_it_must_not_know():
    wrong = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        for name in imports(path)
        for glob, forbidden in FORBIDDEN.items()
        if fnmatch(module, glob) and within(name, tuple(f"{f}*" for f in forbidden))
    ]
    wrong += [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        for name in imports(path)
        if name.split(".")[0] == "streamlit" and not within(module, PAGES)
    ]
    assert not wrong


def in_threads(source: str) -> set[str]:
    """Name what a module has computed that is seen to be no call: labels as they are written."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in COMPUTING:
            label, _, work = [*node.args, *(each.value for each in node.keywords)]
            is_call = isinstance(work, ast.Call) and getattr(work.func, "id", "") in CALLS
            found |= set() if is_call else {getattr(label, "value", ast.unparse(label))}
    return found


def test_what_pages_compute_goes_out_if_it_takes_long():
    """ReliK of all test triples was counted for hours in the server's threads, before all else."""
    sources = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    sources.pop("ui.runtime.computed")
    told = set().union(*map(in_threads, sources.values()))
    assert told == set(IN_THREADS)


def test_what_does_not_go_out_is_seen():
    source = (
        "computed('A', key, lambda _: 1)\nrefined('B', key, Call(f, 1))\n"
        "computed(f'{c}', key, work=make)\ntry_computing('D', key, partial(f, 1))\n"
    )
    assert in_threads(source) == {"A", "f'{c}'", "D"}


def test_no_circles_of_modules_or_of_packages():
    arrows: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        # A package's own file is imported with any of its parts; `kgdash` loads lazily.
        seen = {o for o in imports(path) if o in MODULES and o != "kgdash"}
        arrows[module] = {o for o in seen if not module.startswith(f"{o}.")}
    packages: dict[str, set[str]] = {}
    for module, others in arrows.items():
        packages.setdefault(room(module), set()).update(map(room, others))
    for graph in (arrows, {p: others - {p} for p, others in packages.items()}):
        try:
            tuple(TopologicalSorter(graph).static_order())
        except CycleError as error:
            raise AssertionError(" → ".join(error.args[1])) from None


def room(module: str) -> str:
    """Name the package that a module lies in: "graph", "studies.rules", "ui.widgets"."""
    parts = module.split(".")
    deep = parts[0] in ("studies", "ui") and len(parts) > 2
    return ".".join(parts[: 2 if deep else 1])


def test_imports_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(
        "import streamlit as st\nimport kgdash\nfrom kgdash.scoring import protocol, Scorer\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from kgdash.cli import app\n"
        "def f():\n    from kgdash.runs import Run\n"
    )
    assert imports(path) == {"streamlit", "kgdash", "scoring", "scoring.protocol", "typing", "runs"}


@pytest.mark.parametrize(
    ("work", "heavy"),
    [
        ("import kgdash.files.table_cache, kgdash.cli", {"torch", "pykeen"}),
        ("import kgdash; kgdash.load('umls-pairre').ranks(split='test')", {"torch._dynamo"}),
    ],
)
def test_what_takes_seconds_to_import_waits_until_it_is_needed(work, heavy):
    code = f"import sys; {work}; print(*{heavy} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
