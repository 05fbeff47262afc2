"""A table of ranks cut into groups: by relation, degree, pattern, a condition, a side.

Imports: ranking and below. Start at `breakdown.py`.
"""
