"""``python -m kgdash`` and ``kgdash``: every computation without a browser."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # until all is there to say that nothing was written, Ctrl-C ends without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from kgdash.cli import main

if __name__ == "__main__":
    main()
