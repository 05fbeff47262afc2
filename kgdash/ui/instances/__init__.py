"""Forms and views of queries, rules and labelling.

Imports: ui.widgets, studies, charts and below. Start at `separation.py`.
"""
