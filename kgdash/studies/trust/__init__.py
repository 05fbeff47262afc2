"""How far one prediction can be trusted, in a line and five figures; and a table of many.

Imports: studies.probability, studies.inspection, studies.explanations, runs and below. Start at
`card.py`.
"""
