"""From the marks of a region to the tree of its formula, and from the tree to LaTeX."""
