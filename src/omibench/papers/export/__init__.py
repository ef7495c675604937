"""A study's tables and figures as files, also in the form of a paper; the part above the stages.

- `wide_tables`: tidy tables as a printed one: labels, order, groups and ranks of rows and columns.
- `printed_tables`: a printed table in CSV, Markdown, LaTeX, and the printed statistics of a
  dataset, measured on frozen problems; `plots`: a printed table as a chart.
- `folder`: `omibench results export`: all results, or the items of a paper; `overview`: its README,
  and docs/papers.md.
- `publish`: `omibench results publish`: a leaderboard for a static host.
"""
