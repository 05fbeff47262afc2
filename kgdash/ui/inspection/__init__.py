"""The page Inspect: the choice of a triple, its first screen, what lies deeper.

Imports: ui.widgets, studies, charts and below. Start at `form.py`.
"""
