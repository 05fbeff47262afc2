"""What keeps the app going: navigation, the run picker, background work, cached results.

Imports: any core package. Start at `computed.py`.
"""
