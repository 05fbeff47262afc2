"""The two tables, filtered ranks and ReliK, and the metrics of ranks.

Imports: scoring, engine, graph and what these import. Start at `ranks.py` and `relik.py`.
"""
