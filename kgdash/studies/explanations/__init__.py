"""Why a model gives an answer: rules that lead to it, facts that carry it, similar entities.

Imports: studies.inspection, studies.rules, runs and below. Start at `explanation.py`.
"""
