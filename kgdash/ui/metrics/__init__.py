"""Forms and views of the pages on metrics.

Imports: ui.runtime, ui.widgets. Start at `cards.py`.
"""
