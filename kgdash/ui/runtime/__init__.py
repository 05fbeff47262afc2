"""What keeps the app going: navigation, the run picker, background work, cached results.

Imports: runs and below. Start at `computed.py`.
"""
