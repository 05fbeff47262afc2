"""What keeps the app going: navigation, the run picker, background work, cached results.

Imports: studies.overview and below. Start at `computed.py`.
"""
