"""How far one prediction can be trusted, in a line and five figures; and a table of many.

Imports: studies.explanations, studies.probability, runs and below. Start at `card.py`.
"""
