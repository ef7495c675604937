"""The explorer: a page a problem and a page a cell, so that every number can be followed."""
