"""Makes the papers of the folders `shown` and `held`.

Our own formulas, in LaTeX, are typeset in exam layouts by pdfTeX, LuaTeX, Typst and LibreOffice:
`python -m tests.glyphtex.typeset.make`.
"""
