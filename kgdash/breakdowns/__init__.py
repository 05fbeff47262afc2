"""A table of ranks cut into groups: by relation, degree, pattern, a condition, a side.

Imports: ranking, statistics, graph. Start at `breakdown.py`.
"""
