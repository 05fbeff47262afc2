"""The pages Inspect and New facts: what is chosen, the first screen, what lies deeper.

Imports: ui.widgets, studies, charts and below. Start at `form.py`.
"""
