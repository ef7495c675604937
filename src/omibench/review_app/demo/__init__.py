"""Demonstration with invented tasks of every kind and invented people; nothing is saved."""
