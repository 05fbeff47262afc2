"""Does ReliK go with performance? Correlations, cross-validation, confounders, predictions.

Imports: studies.comparison, studies.reliability, runs and below. Start at `correlation.py`.
"""
