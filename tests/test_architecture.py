"""What docs/architecture.md tells newcomers to do works when it is done, word for word."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import _CacheLocator

from kgdash.engine.compiled import _folder
from tests.support.paths import ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", TEXT)


def test_the_life_of_a_triple_by_hand():
    exec(blocks("python")[0], {})


def test_recipes_can_be_followed(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "demo_studies")
    for name in ("kgdash", "pages", "tests/support"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    (tmp_path / "tests" / "pages").mkdir()
    tools = ("tests/conftest.py", "tests/pages/conftest.py", "tests/pages/driver.py")
    for name in ("dashboard.py", "pyproject.toml", *tools):
        shutil.copy(ROOT / name, tmp_path / name)
    for recipe in blocks("diff"):
        for name, lines in re.findall(r"(?m)^\+\+\+ (.*)\n((?:(?!\+\+\+ ).*\n)*)", recipe):
            apply(tmp_path / name, lines)
    tests = [block for block in blocks("python") if block.startswith("# tests/")]
    assert len(tests) == len(blocks("diff")) == len(re.findall("(?m)^## How to add", TEXT)) == 4
    names = [test.split("\n")[0].removeprefix("# ") for test in tests]
    for name, test in zip(names, tests, strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(test, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *names]
    environment = clean() | {"NUMBA_CACHE_DIR": str(kernels_of(tmp_path))}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(?m)^\.{4} |\b4 passed", done.stdout)


def apply(path: Path, change: str) -> None:
    """Add a recipe's lines marked + where the unmarked lines before them stand."""
    context, added = "", ""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in [*change.splitlines(keepends=True), " end"]:
        if line.startswith("+"):
            added += line[1:]
        elif added:
            assert text.count(context) == 1 or not text, f"{path}: {context}"
            text = text.replace(context, context + added) if text else added
            context, added = line[1:], ""
        else:
            context += line[1:]
    path.write_text(text, encoding="utf-8")


def kernels_of(copy: Path) -> Path:
    """Return a folder where Numba finds for a copy of the engine what it compiled for this one."""
    here, there = (
        _CacheLocator.get_suitable_cache_subpath(str(root / "kgdash" / "engine" / "kernels.py"))
        for root in (ROOT, copy)
    )
    kept, chosen = Path(_folder(""), here), copy / "kernels"
    kept.mkdir(parents=True, exist_ok=True)
    folder = Path(_folder(str(chosen)))
    folder.mkdir(parents=True)
    (folder / there).symlink_to(kept)
    return chosen


def clean() -> dict[str, str]:
    """Return the environment without what points here or says that this is a worker."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "PYTHONPATH"))
    }
