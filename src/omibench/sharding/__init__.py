"""Shards of cells, requested in parallel by flows ahead of the jobs of the graph."""
