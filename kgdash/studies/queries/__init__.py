"""Queries: sampled or read from files, their answers, and the paths that lead there.

Imports: studies.instances, runs and below. Start at `query_types.py`.
"""
