"""Forms and views of subgraphs and of the reliability map.

Imports: ui.runtime, ui.widgets. Start at `form.py`.
"""
