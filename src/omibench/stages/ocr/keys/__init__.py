"""Keys and worked solutions: which answer belongs to which problem."""
