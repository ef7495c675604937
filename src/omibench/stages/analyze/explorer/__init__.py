"""The explorer: pages of single problems and cells, to trace every number to its responses."""
