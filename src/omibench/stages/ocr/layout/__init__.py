"""The layout of a page: lines, columns, figures, running heads."""
