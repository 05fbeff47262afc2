"""Are the scores behind the ranks sound: ties, constant or saturated scores, NaN?

Imports: runs, breakdowns, engine. Start at `of_run.py`.
"""
