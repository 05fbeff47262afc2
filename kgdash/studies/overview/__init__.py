"""The answer first: where a run can be trusted, in sentences that its intervals carry.

Imports: studies.correlation, studies.labelling and below. Start at `overview.py`.
"""
