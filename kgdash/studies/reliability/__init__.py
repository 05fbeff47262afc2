"""ReliK of parts: a subgraph, with its MRR, the map of a graph, regions beyond chance.

Imports: studies.classification, runs and below. Start at `local_comparison.py`.
"""
