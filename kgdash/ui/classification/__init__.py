"""Form and views of triple classification.

Imports: ui.widgets, ui.subgraphs, studies, charts and below. Start at `form.py`.
"""
