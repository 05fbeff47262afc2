"""Widgets that several pages share: charts with export, tables, choices.

Imports: ui.runtime. Start at `chart.py`.
"""
