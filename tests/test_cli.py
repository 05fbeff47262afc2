"""The command line as a process: what was refused or cancelled is said in one line."""

import subprocess
import sys

from tests.support.cli import run_cli
from tests.support.paths import ROOT


def test_ctrl_c_says_that_nothing_was_written(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kgdash.runs.Run.relik", interrupted)
    arguments = ("relik", "umls-transe", "--out", tmp_path / "x.csv")
    code, out, err = run_cli(monkeypatch, capsys, arguments)
    assert (code, out) == (130, "")
    assert err.strip() == "kgdash: cancelled, nothing was written"
    assert not list(tmp_path.iterdir())


def test_as_a_process():
    command = [sys.executable, "-m", "kgdash", "metrics", "umls-trans"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("kgdash: unknown run 'umls-trans'")
    assert len(ended.stderr.splitlines()) == 1
