"""Forms and views of the pages that compare runs.

Imports: ui.widgets, ui.metrics, studies, charts and below. Start at `overview.py`.
"""
