"""One triple looked at from all sides: candidates, negatives that beat it, ends, neighbours.

Imports: runs and below. Start at `inspection.py`.
"""
