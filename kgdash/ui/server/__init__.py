"""What stands between the network and the pages: log-in, bounds, and what a server keeps.

Imports: ui.runtime and below. Start at `../../../app.py`, which puts the layers together.
"""
