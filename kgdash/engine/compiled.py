"""Compiling with Numba, and keeping what was compiled."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs
from llvmlite.binding import get_host_cpu_features
from numba import config as _config
from numba import njit as _njit

from kgdash.files.others import is_private

#: Numba's settings, which its stubs do not list
_settings: Any = _config

# Where another program imported Numba first.
_settings._config_fname = ""
_settings.reload_config()

#: with options that its stubs do not list
njit: Any = _njit


def compiled(function: Callable[..., Any], **options: bool) -> Any:
    """Compile a function at its first call; it releases the GIL.

    What was compiled is kept on disk for later processes, where that can be written.
    """
    before = _settings.CACHE_DIR
    folder = _settings.CACHE_DIR = _folder(before)
    try:
        # Where that can not be written Numba would take a place beside the sources, whatever they
        # are by now.
        return njit(nogil=True, cache=_is_ours(folder), **options)(function)
    except RuntimeError:
        # Numba found no place that it can write.
        return njit(nogil=True, **options)(function)
    finally:
        _settings.CACHE_DIR = before


@lru_cache(maxsize=8)
def _is_ours(folder: str) -> bool:
    """Tell whether a folder is there, or can be made, and nobody else may write there.

    What Numba keeps there are pickles.
    """
    with suppress(OSError):
        Path(folder).mkdir(0o700, parents=True, exist_ok=True)
        return is_private(folder) and os.access(folder, os.W_OK | os.X_OK)
    return False


def compiled_bare(function: Callable[..., Any]) -> Any:
    """As `compiled`, for what is called a million times a second and makes no array.

    References to arrays are not counted in it, which would take longer than a row of scores.
    """
    return compiled(function, _nrt=False, forceinline=True)


def has_wide_masks() -> bool:
    """Tell whether what is compiled may use AVX-512, whose masks have a bit for each lane."""
    features = _settings.CPU_FEATURES
    if features is None and _settings.CPU_NAME in (None, "host"):
        features = get_host_cpu_features().flatten()
    return "+avx512bw" in (features or "")


def _folder(chosen: str) -> str:
    """Return a folder that changes with the engine's sources.

    Numba looks only at the file of a function for changes, and not at what it calls in others.

    :param chosen: the folder in which it is; empty: the user's cache folder
    """
    sha = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*kernels.py")):
        sha.update(source.read_bytes())
    name = f"kernels-{sha.hexdigest()[:16]}"
    return str(Path(chosen) / name) if chosen else platformdirs.user_cache_dir(f"kgdash/{name}")
