"""Tables and figures of a study in a paper's format: CSV, Markdown, LaTeX, SVG, PDF and PNG.

`catalogue` lists the content of each paper (`published/papers.yaml`), `wide` turns tidy tables into
printed ones, `formats` writes them, `export` writes a folder, `overview` its README.
"""
