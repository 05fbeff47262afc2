"""ReliK of parts: a subgraph beside its MRR, the map of a graph, regions beyond chance.

Imports: studies.classification, runs, breakdowns and below. Start at `local_comparison.py`.
"""
