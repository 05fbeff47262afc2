"""Instances, sets of triples labelled true or false, and how well ReliK separates them.

Imports: runs and below. Start at `instances.py`.
"""
