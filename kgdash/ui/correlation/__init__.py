"""Forms and views of the studies of correlation.

Imports: ui.widgets, ui.subgraphs, studies, charts and below. Start at `study.py`.
"""
