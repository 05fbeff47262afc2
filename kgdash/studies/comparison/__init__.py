"""Several runs on one graph: metric by group, paired tests, which model where.

Imports: studies.reliability, runs and below. Start at `comparison.py`.
"""
