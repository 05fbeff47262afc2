"""One file per command: options in, one call, a table or JSON out.

Imports: everything but ui. Start at `shared.py`; `kgdash/cli.py` registers them.
"""
