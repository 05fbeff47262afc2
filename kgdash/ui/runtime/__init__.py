"""What keeps the app going: navigation, the run picker, background work, cached results.

Imports: studies, studies.overview, charts, runs and below. Start at `computed.py`.
"""
