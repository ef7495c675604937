"""Synthetic problems in the shape of a published study, for rehearsals without its data.

They contain nothing of a published benchmark except its counts. Everything made from them is
marked.
"""
