"""The two tables, filtered ranks and ReliK, and the metrics of ranks.

Imports: scoring and below. Start at `ranks.py` and `relik.py`.
"""
