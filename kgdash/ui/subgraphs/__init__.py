"""Forms and views of subgraphs and of the reliability map.

Imports: ui.widgets, studies, charts and below. Start at `form.py`.
"""
