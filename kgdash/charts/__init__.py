"""Tables in, Plotly figures out; no chart computes what it shows.

Imports: ranking, graph. Start at `style.py`.
"""
