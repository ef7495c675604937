"""From a page of a PDF to its marks, to the regions of its formulas, to lines with `$...$`."""
