"""What protocols that sample negatives would say of a run, from its exact ranks.

Imports: studies.probability, studies.comparison, runs and below. Start at `protocols.py`.
"""
