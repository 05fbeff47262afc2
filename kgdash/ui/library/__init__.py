"""What the page Runs shows: all runs, and adding, renaming and removing one's own.

Imports: ui.widgets, statistics and below, runs. Start at `listing.py`.
"""
