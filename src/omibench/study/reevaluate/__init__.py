"""Re-evaluation: find new models, estimate their cost, and report changes on the board.

The functions are called in sequence by a schedule (`omibench.flows.reevaluate`). They do not wait,
retry or depend on Prefect.
"""
