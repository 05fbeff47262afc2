"""The command line as a process: what was refused or cancelled is said in one line."""

import os
import signal
import subprocess
import sys

import pytest

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


def test_ctrl_c_that_a_library_makes_another_error_of(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr("kgdash.runs.Run.relik", interrupted)
    before = signal.getsignal(signal.SIGINT)
    code, out, err = run_cli(monkeypatch, capsys, ("relik", "umls-transe"))
    assert (code, out, err.strip()) == (130, "", "kgdash: cancelled, nothing was written")
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_before_the_command_begins(monkeypatch, capsys):
    monkeypatch.setattr("kgdash.cli.refuse_old_names", lambda _: signal.raise_signal(signal.SIGINT))
    code, out, err = run_cli(monkeypatch, capsys, ("metrics", "umls-transe"))
    assert (code, out, err.strip()) == (130, "", "kgdash: cancelled, nothing was written")


@pytest.mark.parametrize("library", ["numpy", "pandas", "kgdash.cli", "torch", "pykeen.models"])
def test_ctrl_c_while_libraries_are_imported(library):
    command = [sys.executable, "-X", "importtime", "-m", "kgdash", "metrics", "umls-transe"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stderr:
            said.append(line)
            if line.rpartition("|")[2].strip() == library:
                process.send_signal(signal.SIGINT)
    assert process.returncode in (-signal.SIGINT, 130), said[-1]
    assert not any("Traceback" in line for line in said), "".join(said[-40:])


def test_as_a_process():
    command = [sys.executable, "-m", "kgdash", "metrics", "umls-trans"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("kgdash: unknown run 'umls-trans'")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("outputs", "status", "said"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("> /dev/full", 2, "kgdash: the output can not be written: No space left on device"),
    ],
)
def test_outputs_that_take_nothing(outputs, status, said):
    command = f"{sys.executable} -m kgdash guide {outputs}"
    ended = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.strip()) == (status, said)


def test_what_lies_in_the_folder_of_a_run_is_no_module(tmp_path):
    """A folder of a stranger's may hold a `typer.py` beside its run."""
    for name in ("typer", "numpy", "pandas", "grp"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran')")
    command = [sys.executable, "-m", "kgdash", "metrics", "umls-transe", "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert "ran" not in ended.stderr
    assert ended.returncode == 0, ended.stderr


def test_a_folder_that_was_removed_is_told(tmp_path):
    gone = f'cd "{tmp_path}" && rmdir "{tmp_path}" && exec "$0" -c "$1" runs list'
    code = f"import sys; sys.path.append({str(ROOT)!r}); import kgdash.__main__"
    done = subprocess.run(["sh", "-c", gone, sys.executable, code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "kgdash: the folder in which it was called is there no more: change to another\n"
    )
