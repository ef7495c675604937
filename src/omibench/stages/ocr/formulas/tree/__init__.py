"""From the marks of a region to a tree of its formula, and from the tree to LaTeX."""
