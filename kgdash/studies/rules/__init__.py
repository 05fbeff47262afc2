"""Horn rules: read or mined, counted as AMIE does, and what they predict.

Imports: studies.instances, runs and below. Start at `rule.py`.
"""
