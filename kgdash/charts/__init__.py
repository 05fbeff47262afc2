"""Tables in, Plotly figures out; no chart computes what it shows.

Imports: ranking, graph, statistics, files; never runs or studies. Start at `style.py`.
"""
