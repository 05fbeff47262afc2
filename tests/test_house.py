"""The house: tests lie where their module does, and nothing grows beyond what one can overlook."""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.support.paths import ROOT

TESTS, PACKAGE = ROOT / "tests", ROOT / "kgdash"

#: tests of what no one module does
ELSEWHERE = {
    "commands/test_refusals.py": "what commands refuse alike",
    "files/test_kept_names.py": "tables that hold labels are kept by them",
    "files/test_processes_on_one_table.py": "one computes it, and all get it",
    "graph/test_pykeen_datasets.py": "our graphs are those that PyKEEN reads",
    "ranking/test_pykeen_ranks.py": "our ranks are PyKEEN's, model by model",
    "serving/test_cut_requests.py": "requests are the same however they are cut",
    "serving/test_reading_in_turn.py": "who waits for a turn, which reading tells",
    "studies/reliability/test_null_checks.py": "regions of graphs where nothing is to be found",
}

#: kernels that Numba compiles faster code for with bare arrays than with records of them
KERNELS = {
    "engine/kernels.py: count_both",
    "engine/kernels.py: count_rows",
    "engine/kernels.py: count_tile",
    "engine/kernels.py: mask_row",
    "engine/row_kernels.py: count_scores",
    "engine/row_kernels.py: _settle",
    "engine/row_kernels.py: _look_up",
    "engine/comparing_microkernels.py: count_compared",
    "engine/comparing_microkernels.py: count_levels",
    "engine/scoring_kernels.py: fill",
    "engine/scoring_kernels.py: fill_panel",
    "engine/turned_kernels.py: count_turned",
    "engine/sweep_kernels.py: fill_masked",
    "engine/sweep_kernels.py: gather_first_digits",
}


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_tests_mirror_the_package():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    tests = {path.relative_to(TESTS) for path in TESTS.glob("*/**/test_*.py")}
    mirrored = {
        str(path)
        for path in tests
        if path.parts[0] in rooms
        and not (PACKAGE / path.parent / path.name.removeprefix("test_")).is_file()
    }
    assert mirrored == set(ELSEWHERE)


def test_no_module_over_300_lines():
    assert not [str(path.relative_to(ROOT)) for path in modules() if lines(path) > 300]


def test_no_page_over_120_lines():
    assert not [path.name for path in ROOT.glob("pages/*.py") if lines(path) > 120]


def test_no_folder_of_over_30_files():
    files = Counter(path.parent for path in (*modules(), *TESTS.rglob("*.py")))
    assert not [str(folder.relative_to(ROOT)) for folder, n in files.items() if n > 30]


def test_no_function_of_over_six_parameters():
    """Commands declare their options as parameters."""
    found = set()
    for path in modules():
        module = path.relative_to(PACKAGE)
        if module.parts[0] == "commands":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if sum(argument.arg not in ("self", "cls") for argument in every) > 6:
                    found.add(f"{module}: {node.name}")
    assert found == KERNELS


def texts(path: Path) -> list[str]:
    """Return a module's texts, docstrings too; "0" stands for what an f-string fills in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in parts)
        for node in ast.walk(tree)
        for parts in [node.values if isinstance(node, ast.JoinedStr) else [node]]
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]


def test_rows_are_sorted_while_others_come_to_a_turn():
    """NumPy's own holds Python for seconds: `kgdash.graph.sorted_slices.distinct_rows` does not."""
    calls = [
        (path.name, call.lineno)
        for path in modules()
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "unique"
        if any(keyword.arg == "axis" for keyword in call.keywords)
    ]
    assert not calls


def test_percents_are_written_without_a_space():
    """As charts and Python write them: "95%"; a line would break before the sign, too."""
    spaced = re.compile(r"\d %(?![\w{(])")
    assert spaced.search("the 95 % interval")
    assert not spaced.search("hit %{y:.1%}")
    wrong = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in (*modules(), *ROOT.glob("pages/*.py"))
        for text in texts(path)
        if spaced.search(text)
    }
    assert not wrong
