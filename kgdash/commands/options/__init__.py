"""What commands share: options, groups of them, configuration files, old names, output.

Imports: graph, runs and below; no command.
Start at `common.py`; `groups.py` holds options that go together.
"""
