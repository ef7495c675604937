"""A study's tables and figures as files, also in the form of a paper; the part above the stages.

- `study_tables`: the tidy tables of a results folder, all or those of one item of a paper.
- `pages`: a tidy table as a printed one: CSV, Markdown, LaTeX.
- `folder`: `omibench results export`: all results, or the items of a paper; `overview`: its README,
  and docs/papers.md.
- `publish`: `omibench results publish`: a leaderboard for a static host.
"""
