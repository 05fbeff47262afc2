"""Compiled kernels are kept where that can be done, and never for other sources."""

import numba
import pytest

from kgdash.engine import compiled as module
from kgdash.engine.compiled import compiled


def double(x):
    return 2 * x


def test_settings_are_left_as_they_were(monkeypatch, tmp_path):
    for before in ("", str(tmp_path / "mine")):
        monkeypatch.setattr(numba.config, "CACHE_DIR", before)
        assert compiled(double)(4) == 8
        assert before == numba.config.CACHE_DIR


def test_what_was_compiled_is_kept_in_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(module, "_folder", lambda: str(tmp_path / "kept"))
    assert compiled(double)(4) == 8
    assert list((tmp_path / "kept").rglob("*double*.nbc"))


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
    before = module._folder()
    (tmp_path / "counting.py").write_text("other")
    assert module._folder() == before
    (tmp_path / name).write_text("other")
    assert module._folder() != before
