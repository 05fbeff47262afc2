"""Commands that say how far one answer can be trusted.

Imports: studies and below. Start at `calibrate.py`.
"""
