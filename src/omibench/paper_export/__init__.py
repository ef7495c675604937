"""Tables and figures of a study as a paper prints them: CSV, Markdown, LaTeX, SVG, PDF and PNG.

`catalogue` says what each paper holds (`published/papers.yaml`), `wide` turns tidy tables into
those of a page, `formats` writes them, `export` writes a folder, `overview` its README.
"""
