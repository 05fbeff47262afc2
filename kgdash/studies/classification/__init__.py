"""Triple classification: false triples, thresholds, curves, calibration.

Imports: runs, statistics and below. Start at `classification.py`.
"""
