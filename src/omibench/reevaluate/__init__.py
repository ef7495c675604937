"""Re-evaluation: which models are new, what they may cost, and what they changed on the board.

Functions that a schedule calls one after another (`workflows/reevaluate.py`); none of them waits,
retries or knows of Prefect.
"""
