"""plan: the requests of a study, their cost and its statistical power, before anything is sent.

After a run: the expected cost next to the actual one.
"""
