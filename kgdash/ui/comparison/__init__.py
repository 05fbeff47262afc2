"""Forms and views of the pages that compare runs.

Imports: ui.widgets, ui.metrics, ui.subgraphs, studies, charts and below. Start at `overview.py`.
"""
