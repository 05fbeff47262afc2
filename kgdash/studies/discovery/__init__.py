"""New facts over the whole graph: the best of all triples that nobody recorded.

Imports: studies.probability, runs and below. Start at `discovery.py`.
"""
