"""The commands that start the dashboard: for oneself, or for others.

Imports: ranking, runs, serving and below.
Start at `serve.py`.
"""
