"""Compiled kernels are kept where that can be done, and never for other sources."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from kgdash.engine import compiled as module
from kgdash.engine.compiled import compiled
from tests.support.paths import ROOT


def double(x):
    return 2 * x


def test_settings_are_left_as_they_were(monkeypatch, tmp_path):
    for before in ("", str(tmp_path / "mine")):
        monkeypatch.setattr(numba.config, "CACHE_DIR", before)
        assert compiled(double)(4) == 8
        assert before == numba.config.CACHE_DIR


def test_what_was_compiled_is_kept_in_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(module.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    assert compiled(double)(4) == 8
    assert list((tmp_path / "kgdash").rglob("*double*.nbc"))


def test_a_chosen_folder_changes_with_the_sources_too(monkeypatch, tmp_path):
    """Kernels of an older version counted after an update."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled(double)(4) == 8
    assert [path.name for path in tmp_path.iterdir()] == [Path(module._folder("")).name]
    assert list(tmp_path.glob("kernels-*/*/*double*.nbc"))
    assert os.name == "nt" or not next(tmp_path.iterdir()).stat().st_mode & 0o077


def test_nothing_is_kept_beside_the_sources(monkeypatch, tmp_path):
    """Kernels of older sources counted there, once no other folder could be written."""
    asked = []
    real = module.njit
    monkeypatch.setattr(
        module, "njit", lambda **named: asked.append(named["cache"]) or real(**named)
    )
    (tmp_path / "file").write_text("")
    for chosen, cache in ((tmp_path / "file", False), (tmp_path / "folder", True)):
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(chosen))
        assert compiled(double)(4) == 8
        assert asked.pop() is cache


def test_nothing_is_read_from_where_others_may_write(monkeypatch, tmp_path):
    """What Numba keeps are pickles."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    shared = tmp_path / Path(module._folder("")).name
    shared.mkdir()
    shared.chmod(0o777)
    assert compiled(double)(4) == 8
    assert not list(shared.iterdir())


def test_nowhere_to_keep_it(monkeypatch, tmp_path):
    real = module.njit

    def njit(**settings):
        if settings.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**settings)

    monkeypatch.setattr(module, "njit", njit)
    before = numba.config.CACHE_DIR
    assert compiled(double)(4) == 8
    assert before == numba.config.CACHE_DIR


@pytest.mark.parametrize("name", ["kernels.py", "microkernels.py"])
def test_other_sources_have_another_folder(monkeypatch, tmp_path, name):
    for source in ("kernels.py", "microkernels.py", "counting.py"):
        (tmp_path / source).write_text(source)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "compiled.py"))
    before = module._folder("")
    (tmp_path / "counting.py").write_text("other")
    assert module._folder("") == before
    (tmp_path / name).write_text("other")
    assert module._folder("") != before


THEIRS = """cache_dir: theirs
disable_jit: 1
chrome_trace: precious
"""
READ = """
import numpy as np
from kgdash.engine.compiled import compiled
import numba
print(numba.config.CACHE_DIR, numba.config.DISABLE_JIT)
print(compiled(lambda: np.arange(5).sum())())
print(numba.config.CACHE_DIR, numba.config.DISABLE_JIT)
"""


def test_settings_of_the_folder_here_are_left(tmp_path):
    """A stranger's named the folder whose pickles Numba reads, and a file that it wrote over."""
    (tmp_path / ".numba_config.yaml").write_text(THEIRS)
    (tmp_path / "precious").write_text("thesis")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.check_output(
        [sys.executable, "-c", READ], cwd=tmp_path, env=environment, text=True
    )
    assert shown.splitlines() == [" 0", "10", " 0"]
    assert {path.name for path in tmp_path.iterdir()} == {".numba_config.yaml", "precious"}
    assert (tmp_path / "precious").read_text() == "thesis"
