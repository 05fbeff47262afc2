"""One file per command: options in, one call, a table or JSON out.

Imports: reports, studies, charts and below; never ui.
Start at `relik.py`; `kgdash/cli.py` registers them, `options/` has what they share.
"""
