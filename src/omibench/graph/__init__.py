"""Bookkeeping of the graph: code hashes, slices of the parameters, inputs and provenance."""
