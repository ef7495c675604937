"""Export of selected items as pages that open from disk, for a paper's appendix or a web server."""
