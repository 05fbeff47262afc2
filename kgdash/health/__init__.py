"""Are the scores behind the ranks sound: ties, constant or saturated scores, NaN?

Imports: runs and below. Start at `of_run.py`.
"""
