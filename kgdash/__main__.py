"""``python -m kgdash`` and ``kgdash``: every computation without a browser."""

import os
import signal
import sys

try:
    here = os.getcwd()
except OSError:
    print(
        "kgdash: the folder in which it was called is there no more: change to another",
        file=sys.stderr,
    )
    sys.exit(2)

# `python -m` looks for all modules in the folder where it is called first, whosever that is.
if sys.path[0] == here != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
    del sys.path[0]

# Nor shall programs of Python that libraries start.
os.environ["PYTHONSAFEPATH"] = "1"

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # until all is there to say that nothing was written, Ctrl-C ends without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from kgdash.cli import main

if __name__ == "__main__":
    main()
