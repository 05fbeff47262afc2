"""Forms and views of queries, rules and labelling.

Imports: ui.runtime, ui.widgets. Start at `separation.py`.
"""
