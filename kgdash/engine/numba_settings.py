"""Numba without the settings of the folder where a command is called: they may be a stranger's.

They name where it keeps what it compiled, which it reads as pickles, and, as soon as it is
imported, a file that it writes over at the end. Environment variables count as ever.
"""

import builtins
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType, SimpleNamespace
from typing import Any

_SETTINGS = "numba.core.config"


def leave_those_of_this_folder() -> None:
    """Have Numba, where it has not been imported, take no file for settings."""
    if _SETTINGS not in sys.modules:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == _SETTINGS else None
        if spec is None or spec.origin is None:
            return None
        return spec_from_file_location(name, spec.origin, loader=_Loader(name, spec.origin))


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


def _import(name: str, *more: Any) -> Any:
    """Import a module, but for the one that reads the file: it finds it empty."""
    if name == "yaml":
        return SimpleNamespace(safe_load=lambda file: None)
    return builtins.__import__(name, *more)
