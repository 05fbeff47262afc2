"""Do equally good runs agree on answers? Where do they not, and does a vote among them help?

Imports: studies.comparison, studies.probability, runs and below. Start at `agreement.py`.
"""
