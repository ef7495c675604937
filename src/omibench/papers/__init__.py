"""What papers print: their tables as data, checked, compared with a study, and made from one.

From a file to a number on a page:

- `layouts`: what a `tables.yaml` says about the columns of a table; `guess` infers it without one.
- `tables`: a printed table, its rows, and each printed value with its model, setting and part.
- `names`: whether two names mean the same model.
- `checks`: printed values against other printed values; `audit` checks a folder of tables.
- `study`: printed results on the dataset of a study, and the cells that they match.
- `comparison`: printed values beside the study's, as a tidy table; `measures`: the latter.
- `catalogue`: the tables and figures of each paper (`published/papers.yaml`).
- `statistics`: printed numbers of datasets, and how a release measures them.
- `export`: those tables and figures from a study's results; it stands above the stages.
"""
