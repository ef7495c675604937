"""Files of cells: their origin, and the criteria for a failed cell."""
