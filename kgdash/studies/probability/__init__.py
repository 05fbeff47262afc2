"""How probable an answer is, which set holds it as promised, and how far both are right.

Imports: runs, health and below. Start at `calibration.py`.
"""
