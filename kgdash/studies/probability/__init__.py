"""How probable an answer is: temperatures, an isotonic map, and how far probabilities are right.

Imports: runs, health and below. Start at `calibration.py`.
"""
