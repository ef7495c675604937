"""Tasks for Label Studio, and what people decided there.

Task id and content hash stand in the data of each task, and the field of a result in its `meta`:
Label Studio keeps both through import and export, other than ids of its own.
"""
