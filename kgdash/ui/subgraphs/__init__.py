"""Forms and views of subgraphs and of the reliability map.

Imports: ui.graph_view, ui.widgets, studies, charts and below. Start at `form.py`.
"""
