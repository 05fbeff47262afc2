"""A run's evaluation told as HTML, a LaTeX table or a single chart by name.

Imports: everything but commands and ui. Start at `html.py`.
"""
