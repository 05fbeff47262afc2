"""Training of our own, over PyKEEN's model classes: softmax over all entities.

Imports: scoring and below. Start at `trainer.py`.
"""
