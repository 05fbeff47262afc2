"""Noting which pages are shown, how long that takes, and what fails."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamlit.runtime.scriptrunner import RerunException, StopException

from kgdash.errors import KgdashError
from kgdash.files.event_log import Stopwatch, log_handler, note
from kgdash.version import __version__


@contextmanager
def noted_view(page: Any) -> Iterator[None]:
    """Note one run of the app's script: the page, the seconds and how it ended.

    :param page: of `kgdash.ui.runtime.navigation.navigation`
    """
    watch, outcome = Stopwatch(), "shown"
    try:
        yield
    except RerunException:  # a click, or another page
        outcome = "left"
        raise
    except StopException:
        raise
    except Exception:
        outcome = "failed"
        raise
    finally:
        note("page", page=page.url_path or "overview", outcome=outcome, seconds=watch.seconds)


def note_start() -> None:
    """Note that a server starts; one whose log can not be written does not.

    :raises SystemExit: if the log can not be written
    """
    try:
        log_handler()
    except KgdashError as error:
        sys.exit(f"kgdash: {error}")
    python, cores = platform.python_version(), os.cpu_count() or 1
    note("start", version=__version__, python=python, cores=cores)


def note_failure(error: Exception) -> None:
    """Note the class of an exception that a script or a callback did not catch."""
    note("failed", error=type(error).__name__)
