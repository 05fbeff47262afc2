"""Triple classification: false triples, thresholds, curves, calibration.

Imports: runs and below. Start at `classification.py`.
"""
