"""Streamlit's AppTest as a server runs pages, and quicker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any

import pytest


@contextmanager
def quick_app_tests() -> Iterator[None]:
    """Spare each run of an AppTest what costs it most beside the page itself.

    It makes a server anew, which reads the manifests of all packages; and it looks a thousand times
    a second whether the script has ended.
    """
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import local_script_runner

    wait = local_script_runner.require_widgets_deltas

    def join_first(runner, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        wait(runner, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", _manifests())
        patch.setattr(local_script_runner, "require_widgets_deltas", join_first)
        yield


@contextmanager
def pages_declared() -> Iterator[None]:
    """Run dashboard.py on every run, as a server does once st.navigation was called.

    AppTest forgets that call, sees the folder pages/ and runs a page's file alone, without the
    sidebar. The first visit to a fresh server, which really is so, has tests of its own.
    """
    from streamlit.runtime.pages_manager import PagesManager

    original = PagesManager.__init__

    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        PagesManager.uses_pages_directory = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PagesManager, "__init__", init)
        yield


@cache
def _manifests():
    from streamlit.components.v2 import manifest_scanner

    return cache(manifest_scanner.scan_component_manifests)


def holds_run(value: Any) -> bool:
    """Tell whether a callback, or its arguments, refer to a run or a graph."""
    from kgdash.graph import KnowledgeGraph
    from kgdash.runs import Run

    if isinstance(value, Run | KnowledgeGraph):
        return True
    inside: list[Any] = []
    if isinstance(value, tuple | list | set | frozenset):
        inside = list(value)
    elif isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, partial):
        inside = [value.func, value.args, value.keywords]
    elif isinstance(value, MethodType):
        inside = [value.__self__]
    elif isinstance(value, FunctionType):
        inside = [cell.cell_contents for cell in value.__closure__ or ()]
        inside += [value.__defaults__, value.__kwdefaults__]
        # A page's own functions hold all that the page does.
        inside += [v for v in value.__globals__.values() if isinstance(v, Run | KnowledgeGraph)]
    return any(map(holds_run, inside))
