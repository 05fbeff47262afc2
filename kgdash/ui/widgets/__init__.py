"""Widgets that several pages share: charts with export, tables, choices.

Imports: ui.runtime, studies, charts and below. Start at `chart.py`.
"""
