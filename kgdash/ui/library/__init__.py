"""What the page Runs shows: all runs, and training, adding, renaming and removing one's own.

Imports: ui.widgets, runs and below. Start at `listing.py`.
"""
