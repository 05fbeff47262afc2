"""Labels that a terminal would obey are written visibly there, and as they are into pipes."""

import os
import pty
import subprocess
import sys

from kgdash.commands.options.terminal import say
from tests.support.paths import ROOT

CODE = """
import sys
from kgdash.commands.options.terminal import visible_output
with visible_output():
    print("a\\x1b[31mb")
    print("c\\x9bd", file=sys.stderr)
    print("\\r0.1=a\\r0.9")  # progress goes back to its line's beginning, a name in it does not
"""


def test_on_a_terminal():
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", CODE], cwd=ROOT, stdout=theirs, stderr=theirs):
        pass
    os.close(theirs)
    assert os.read(ours, 1000).split() == [rb"a\x1b[31mb", rb"c\x9bd", rb"0.1=a\r0.9"]
    os.close(ours)


def test_in_a_pipe():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == b"a\x1b[31mb\n\r0.1=a\r0.9\n"
    assert done.stderr.decode() == "c\x9bd\n"


def test_no_name_begins_a_line_or_a_column(capsys):
    say("a\nMRR\t1.0\r", 2, "日本")
    assert capsys.readouterr().out == "a\\nMRR\\t1.0\\r\t2\t日本\n"
