"""Forms and views of the pages on metrics.

Imports: ui.subgraphs, ui.widgets, reports, charts and below. Start at `cards.py`.
"""
