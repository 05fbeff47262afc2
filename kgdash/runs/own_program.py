"""Modules of this package as programs of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def start_module(module: str, **options: Any) -> subprocess.Popen[Any]:
    """Start a module in a process that finds this package, and nothing that lies where it starts.

    :param module: its whole name
    :param options: of `subprocess.Popen`
    """
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen([sys.executable, "-P", "-m", module], env=env, **options)
