"""Exchange of tasks and decisions with Label Studio.

The data of each task contains the task id and content hash, and the `meta` of a result contains the
field: Label Studio preserves both on import and export, unlike its own ids.
"""
