"""From a PDF page to its marks, the regions of its formulas, and lines with `$...$`."""
