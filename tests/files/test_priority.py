"""A process that nobody waits for goes last, and is ended first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

_PROGRAM = """
import os
from kgdash.files.priority import give_way
give_way(3)
print(os.nice(0), open("/proc/self/oom_score_adj").read())
"""


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="Linux")
def test_a_process_gives_way():
    program = [sys.executable, "-c", _PROGRAM]
    said = subprocess.run(program, cwd=ROOT, check=True, capture_output=True, text=True)
    assert said.stdout.split() == [str(min(os.nice(0) + 3, 19)), "800"]
