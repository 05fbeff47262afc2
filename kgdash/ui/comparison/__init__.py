"""Forms and views of the pages that compare runs.

Imports: ui.runtime, ui.widgets. Start at `overview.py`.
"""
