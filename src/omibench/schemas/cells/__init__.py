"""Files of cells: what they say of their origin, and when a cell has failed."""
