"""Search for a configuration by Optuna, judged on validation without leakage.

Imports: runs, formats. Start at `selection.py`.
"""
