"""A run's evaluation told as HTML, a LaTeX table or a single chart by name.

Imports: studies.overview, charts and below. Start at `html.py`.
"""
