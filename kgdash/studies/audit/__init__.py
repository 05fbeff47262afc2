"""Which facts of a graph are most likely wrong, and how well lists of them find planted errors.

Imports: studies.correlation, studies.classification, runs and below. Start at `cross_fitting.py`.
"""
