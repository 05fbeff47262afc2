"""Search for a configuration by Optuna, judged on validation without leakage.

Imports: runs and below. Start at `selection.py`.
"""
