"""Form and views of triple classification.

Imports: ui.runtime, ui.widgets. Start at `form.py`.
"""
