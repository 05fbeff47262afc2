"""Forms and views of the studies of correlation.

Imports: ui.runtime, ui.widgets. Start at `study.py`.
"""
